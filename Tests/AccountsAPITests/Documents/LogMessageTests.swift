import Foundation
import TestSupport
import Testing

@Suite("Log messages")
struct LogMessageTests {
    /// The runbook searches for messages, and counts equal ones.
    @Test func `every log message is a constant text, and what varies is metadata`() throws {
        let folder = Repository.root.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        // The message of a call ends where the metadata begins, or with the call. `warn` adds a warning about settings.
        let call = /(?s)\b(?:logger\.\w+|warn)\((.*?)(?:metadata:|,\s+\[|\)[ }]*\n)/
        var messages = 0
        for file in files {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            // A file that logs imports the library. The search in the list of common passwords would take long.
            guard text.contains("import Logging") else { continue }
            for match in text.matches(of: call) {
                messages += 1
                #expect(!match.1.contains(#"\("#), "\(file): \(match.1)")
            }
        }
        #expect(messages >= 40)
    }
}
