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

    /// The clauses that each table of the document must have, by the heading of its section.
    private static let clauses = [
        "Sign-in beside NIST SP 800-63B-4": """
        2.1.3 2.2.2 2.2.3 3.1.1.2 3.1.3.1 3.2.2 3.2.5 4.1.2.1 4.2.1.1 4.2.1.2 4.2.2.2 4.2.3 4.3 4.5 4.6 5.1 5.1.1 5.1.2
        5.2 B.2
        """,
        "Sign-in beside OWASP ASVS 5.0": """
        6.1.1 6.1.3 6.2.2 6.2.3 6.2.4 6.2.11 6.2.12 6.3.4 6.3.5 6.3.7 6.3.8 6.4.1 6.4.3 6.4.4 6.4.6 6.5.1 6.5.2 6.5.3
        6.5.4 6.5.5 6.5.6 6.6.2 6.7.2 7.1.1 7.1.2 7.2.3 7.2.4 7.3.1 7.3.2 7.4.1 7.4.2 7.4.3 7.4.4 7.4.5 7.5.1 7.5.2
        7.6.1 7.6.2
        """,
        "Tokens and applications beside OWASP ASVS 5.0": """
        9.1.2 9.1.3 9.2.1 9.2.2 9.2.3 9.2.4 10.4.1 10.4.2 10.4.3 10.4.4 10.4.5 10.4.6 10.4.8 10.4.9 10.4.10 10.4.11
        10.4.12 10.4.13 10.6.1 10.6.2 10.7
        """,
        "Applications beside OAuth 2 and OpenID Connect": """
        O1 O2 O3 O4 O5 O6 O7 O8 O9 O10 O11 O12 O13 O14 O15 O16 O17 O18 O19 O20 O-create O-rp O-bc
        """,
        "Webhooks beside Standard Webhooks": """
        id time content signature secret key body success gone load retries timeout SSRF operator
        """,
        "Well-known URLs": """
        `change-password` `resource-that-should-not-exist-whose-status-code-should-not-be-200` `passkey-endpoints`
        `webauthn`
        """,
        "Proxies": "P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11 P12 P13",
    ]

    @Test(arguments: clauses.keys.sorted())
    func `every clause has its row, which names a suite or says that there is none`(heading: String) throws {
        let document = try String(contentsOf: Repository.root.appending(path: "docs/security.md"), encoding: .utf8)
        let section = try #require(document.components(separatedBy: "\n## \(heading)\n").dropFirst().first)
        let lines = section.components(separatedBy: "\n## ")[0].split(separator: "\n")
        var found: Set<String> = []
        for line in lines where line.hasPrefix("| ") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let isHeading = cells.last == "tested in"
            try #require(cells.count == 4, "\(line)")
            if isHeading { continue }
            #expect(cells[3].hasPrefix("`") || cells[3].hasPrefix("none: "), "\(line)")
            found.formUnion(cells[0].components(separatedBy: ", "))
        }
        let expected = Self.clauses[heading]?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
        #expect(found == Set(expected))
    }
}
