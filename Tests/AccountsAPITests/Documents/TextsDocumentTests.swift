import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("What docs/texts.md shows", .timeLimit(.minutes(30)))
struct TextsDocumentTests {
    private static func text() throws -> String {
        try String(contentsOf: Repository.root.appending(path: "docs/texts.md"), encoding: .utf8)
    }

    @Test func `the first example changes English, and adds Japanese`() throws {
        let example = String(try #require(Self.text().firstMatch(of: /(?m)^```yaml\n((?:.*\n)*?)```$/)).1)
        let languages = try TextsFile(example, file: "texts.yaml").languages
        #expect(languages.map(\.tag) == ["en", "ko", "ja"])
        let (english, japanese) = (languages[0].messages, languages[2].messages)
        #expect(english.signUp(serviceName: "Acme") == "Become a member of Acme")
        #expect(japanese.signUp(serviceName: "Acme") == "Become a member of Acme")
        #expect(english.text(.begin) == "Join us" && japanese.text(.begin) == "登録をはじめる")
        let short = Refusal("password", .tooShort, ["min": 15])
        #expect(japanese.message(for: short, about: .password, label: nil) == "15 文字以上で入力してください。")
    }

    @Test func `all examples are valid, and every key of a language is listed`() throws {
        let text = try Self.text()
        for example in text.matches(of: /(?m)^```yaml\n((?:.*\n)*?)```$/) {
            #expect(throws: Never.self) { try TextsFile(String(example.1), file: "texts.yaml") }
        }
        let keys = try #require(Language.builtInFiles.first).matches(of: /(?m)^    ([a-z]+):/).map { String($0.1) }
        #expect(keys.count == 10)
        for key in keys { #expect(text.contains("`\(key)`"), "\(key)") }
    }

    @Test func `texts check prints the output that the document shows`() async throws {
        let shown = try #require(Self.text().firstMatch(of: /```console\n\$ accounts-api ([^\n]*)\n((?:.*\n)*?)```/))
        let (arguments, output) = (shown.1.split(separator: " ").map(String.init), String(shown.2))
        let run = try await CommandRun.of(arguments, settings: [:])
        #expect(run.status == 0 && run.output == output)
    }
}
