package import Foundation

extension ProcessInfo {
    /// The environment variables with which `scripts/sanitize` sets where a sanitizer writes its reports. Empty without
    /// a sanitizer. Each program that a test starts gets them.
    package var sanitizerOptions: [String: String] {
        environment.filter { ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains($0.key) }
    }
}
