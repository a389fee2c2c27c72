import Foundation
import TestSupport
import Testing

@Suite("What docs/security.md says")
struct SecurityDocumentTests {
    @Test func `every suite that the document names exists`() throws {
        let document = try String(contentsOf: Repository.root.appending(path: "docs/security.md"), encoding: .utf8)
        let files = try #require(
            FileManager.default.enumerator(
                at: Repository.root.appending(path: "Tests"),
                includingPropertiesForKeys: nil
            )
        )
        var suites: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            suites.formUnion(text.matches(of: /@Suite\("([^"]+)"/).map { String($0.1) })
        }
        let rows = document.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| threat") }
        #expect(rows.count > 15)
        for row in rows {
            let names = try #require(row.split(separator: "|").last(where: { !$0.allSatisfy(\.isWhitespace) }))
            for name in names.matches(of: /`([^`]+)`/) { #expect(suites.contains(String(name.1))) }
        }
    }
}
