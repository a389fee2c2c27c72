import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("What docs/applications.md shows")
struct ApplicationsDocumentTests {
    private static func text() throws -> String {
        try String(contentsOf: Repository.root.appending(path: "docs/applications.md"), encoding: .utf8)
    }

    @Test func `the example loads, and the reference has every key of it`() throws {
        let text = try Self.text()
        let example = try #require(text.firstMatch(of: /(?m)^```yaml\n((?:.*\n)*?)```$/)).1
        let applications = try Applications.parse(
            String(example),
            file: "applications.md",
            flow: .standard(),
            publicURL: "https://accounts.example"
        ) { path throws(SecretFile.Unreadable) in
            path.hasSuffix("-hooks")
                ? SecretFile(lines: ["whsec_" + Data(count: 32).base64EncodedString()])
                : SecretFile(lines: [String(repeating: "a", count: 64)])
        }
        #expect(applications.all.map(\.isPublic) == [false, true])
        let keys = Set(example.matches(of: /([a-z_]+):(?= |\n)/).map { String($0.1) }).subtracting(["en", "ko"])
        #expect(keys.count == 14)
        for key in keys { #expect(text.contains("| `\(key)` |"), "\(key)") }
    }

    @Test func `every event is listed`() throws {
        let text = try Self.text()
        for event in Webhook.eventTypes { #expect(text.contains("`\(event)`"), "\(event)") }
        let file = Repository.root.appending(path: "docs/events.md")
        let causes = try String(contentsOf: file, encoding: .utf8)
        for event in Webhook.eventTypes { #expect(causes.contains("\n| `\(event)` | "), "\(event)") }
    }
}
