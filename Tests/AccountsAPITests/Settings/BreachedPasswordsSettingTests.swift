import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The setting BREACHED_PASSWORDS_FILE")
struct BreachedPasswordsSettingTests {
    private static func mistakes(_ changes: [String: String]) -> [String] {
        let valid = ["DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys]
        do throws(SettingMistakes) {
            _ = try Settings(SettingSource(environment: valid.merging(changes) { $1 }))
            return []
        } catch {
            return error.all
        }
    }

    @Test func `a malformed file is reported together with other mistakes, and is not quoted`() async throws {
        try await withFile("5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:9\nsecret words\n", named: "list.txt") { file in
            let mistakes = Self.mistakes(["BREACHED_PASSWORDS_FILE": file, "LISTEN": "nowhere"])
            #expect(mistakes.count == 2)
            #expect(mistakes.contains { $0.hasPrefix("LISTEN: ") })
            #expect(mistakes.contains { $0.hasPrefix("BREACHED_PASSWORDS_FILE: line 2 is malformed; ") })
            #expect(!mistakes.contains { $0.contains("secret") })
        }
    }

    @Test func `a list of whole digests, or of first digits with the prefix sha1, is accepted, and no list is needed`()
        async throws
    {
        try await withFile("5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:9\r\n", named: "list.txt") { file in
            #expect(Self.mistakes(["BREACHED_PASSWORDS_FILE": file]) == [])
        }
        try await withFile("5BAA61E4C9B93F3F\n", named: "list.txt") { file in
            #expect(Self.mistakes(["BREACHED_PASSWORDS_FILE": "sha1:\(file)"]) == [])
            #expect(Self.mistakes(["BREACHED_PASSWORDS_FILE": file]).count == 1)
        }
        #expect(Self.mistakes([:]) == [])
    }

    @Test func `a folder is refused, because it is not a regular file`() {
        let mistakes = Self.mistakes(["BREACHED_PASSWORDS_FILE": FileManager.default.temporaryDirectory.path])
        #expect(mistakes == ["BREACHED_PASSWORDS_FILE: the file is not a regular file"])
    }
}
