internal import CRE2

/// A regular expression in RE2 syntax. The time of a match is linear in the length of the text, for every expression.
final class Pattern: Sendable {
    let text: String
    /// The object of RE2. Safe to share, because RE2 lets several threads match with one object.
    nonisolated(unsafe) private let compiled: OpaquePointer

    /// Returns nil if the pattern is invalid or needs too much memory.
    init?(_ text: String) {
        var copy = text
        let compiled = copy.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { re2_compile($0.baseAddress, $0.count) }
        }
        guard let compiled else { return nil }
        self.text = text
        self.compiled = compiled
    }

    deinit { re2_free(compiled) }

    func matches(whole text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { re2_matches(compiled, $0.baseAddress, $0.count) }
        }
    }
}
