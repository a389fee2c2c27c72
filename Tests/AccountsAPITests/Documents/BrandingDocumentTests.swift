import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("What docs/branding.md shows", .timeLimit(.minutes(30)))
struct BrandingDocumentTests {
    private static func text() throws -> String {
        try String(contentsOf: Repository.root.appending(path: "docs/branding.md"), encoding: .utf8)
    }

    @Test func `the example is examples/brand/brand.yaml, and the reference has every key of it`() throws {
        let text = try Self.text()
        let example = String(try #require(text.firstMatch(of: /(?m)^```yaml\n((?:.*\n)*?)```$/)).1)
        let file = Repository.root.appending(path: "examples/brand/brand.yaml")
        let written = try String(contentsOf: file, encoding: .utf8)
        #expect(example == written)
        for key in Set(example.matches(of: /([a-z_]+):(?= |\n)/).map { String($0.1) }) {
            #expect(text.contains("`\(key)`"), "\(key)")
        }
    }

    @Test func `every colour is listed`() throws {
        let text = try Self.text()
        for name in ColourName.allCases { #expect(text.contains("| `\(name.rawValue)` |"), "\(name)") }
    }

    @Test func `brand check prints the output that the document shows`() async throws {
        let shown = try #require(Self.text().firstMatch(of: /```console\n\$ accounts-api ([^\n]*)\n((?:.*\n)*?)```/))
        let (arguments, output) = (shown.1.split(separator: " ").map(String.init), String(shown.2))
        let run = try await CommandRun.of(arguments, settings: [:])
        #expect(run.status == 0 && run.output == output)
    }
}
