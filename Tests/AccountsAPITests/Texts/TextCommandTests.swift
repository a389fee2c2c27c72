import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The commands for texts", .timeLimit(.minutes(30)))
struct TextCommandTests {
    @Test func `texts show prints the built-in texts as a file of texts`() async throws {
        for (arguments, tags) in [([], ["en", "ko"]), (["en"], ["en"]), (["ko"], ["ko"])] {
            let run = try await CommandRun.of(["texts", "show"] + arguments, settings: [:])
            #expect(run.status == 0 && run.output.hasPrefix("languages:\n  \(tags[0]):\n"))
            let found = run.output.matches(of: /(?m)^  ([a-z]+):$/).map { String($0.1) }
            #expect(found == tags)
            let file = try TextsFile(run.output, file: "texts.yaml")
            #expect(file.missing.isEmpty && file.languages[0].messages.text(.next) == "Next")
        }
        let unknown = try await CommandRun.of("texts", "show", "fr")
        #expect(unknown.status == 2 && unknown.errorOutput.contains("unknown language \"fr\": pass en or ko"))
    }

    @Test func `texts check lists what a new language lacks`() async throws {
        let built = try TextsFile(Language.builtInFiles[0], file: "en.yaml").count
        try await withFile("languages: {ja: {name: 日本語, words: {next: 次へ}}}", named: "texts.yaml") { file in
            let run = try await CommandRun.of("texts", "check", file)
            let lines = run.output.split(separator: "\n").map(String.init)
            #expect(run.status == 0 && lines[0] == "\(file) is valid: 1 text")
            #expect(lines[1] == "ja (日本語) lacks \(built - 1) texts; English is shown instead:")
            #expect(lines.contains("  words.back") && !lines.contains("  words.next") && lines.count == built + 1)
            let json = try await CommandRun.of("texts", "check", "--json", settings: ["TEXTS_FILE": file])
            let verdict = try json.json
            #expect(json.status == 0 && verdict["valid"] == true && verdict["texts"] == 1)
            guard case .array(let added)? = verdict["added_languages"] else {
                Issue.record("\(json.output)")
                return
            }
            #expect(added.map { $0["tag"] } == ["ja"] && added[0]["name"] == "日本語")
            #expect(verdict["untranslated"] == [])
        }
        let part = "languages: {ja: {name: 日本語, questions: {Password: パスワード}}}"
        try await withFile(part, named: "texts.yaml") { file in
            let lines = try await CommandRun.of("texts", "check", file).output.split(separator: "\n").map(String.init)
            let start = try #require(lines.firstIndex { $0.hasPrefix("the file does not translate ") })
            #expect(lines[start].hasSuffix(" texts of the built-in flow:") && lines.count > start + 20)
            #expect(lines[start + 1].contains("\"title\" has no text in \"ja\": pages show the text in \"en\""))
        }
    }

    @Test func `texts check reports all mistakes, and no command starts with them`() async throws {
        let reasons = [
            (2, "unknown key \"nxt\" in \"words\""),
            (3, "\"name\" is missing: the name of the language in itself, such as 日本語"),
        ]
        try await withFile("languages:\n  en: {words: {nxt: A}}\n  ja: {}\n", named: "texts.yaml") { file in
            let lines = reasons.map { "\(file):\($0.0): \($0.1)\n" }
            let run = try await CommandRun.of("texts", "check", file)
            #expect(run.status == 1 && run.output.isEmpty && run.errorOutput == lines.joined())
            let json = try await CommandRun.of("texts", "check", file, "--json")
            let mistakes = reasons.map { line, reason -> JSON in
                ["file": .string(file), "line": .integer(line), "reason": .string(reason)]
            }
            #expect(try json.status == 1 && json.json == ["valid": false, "mistakes": .array(mistakes)])
            let settings = [
                "DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys, "TEXTS_FILE": file,
                "LOG_FORMAT": "text",
            ]
            for arguments in [["serve"], ["flow", "show"], ["flow", "check", "Sources/Accounts/Flow/signup.yaml"]] {
                let command = try await CommandRun.of(arguments, settings: settings)
                #expect(command.status == 2, "\(arguments)")
                #expect(command.errorOutput == lines.map { "TEXTS_FILE: \($0)" }.joined(), "\(arguments)")
            }
        }
        let nothing = try await CommandRun.of("texts", "check")
        #expect(nothing.status == 2 && nothing.errorOutput == "no file of texts: pass FILE, or set TEXTS_FILE\n")
    }

    @Test func `the flow and the applications may have texts in a language of the file`() async throws {
        let settings = ["TEXTS_FILE": "examples/texts/ja.yaml"]
        let standard = Repository.root.appending(path: "Sources/Accounts/Flow/signup.yaml")
        let flow = try String(contentsOf: standard, encoding: .utf8)
            .replacing("languages: [en, ko]", with: "languages: [en, ko, ja]")
            .replacing("{en: Check your email,", with: "{en: Look for our email,")
        try await withFile(flow) { file in
            let check = try await CommandRun.of("flow", "check", file, settings: settings)
            let gap = /signup.yaml:19: "title" has no text in "ja": pages show the text in "en"/
            #expect(check.status == 0 && check.errorOutput.contains(gap) && !check.errorOutput.contains(":10:"))
            let json = try await CommandRun.of("flow", "check", file, "--json", settings: settings).json
            guard case .array(let warnings)? = json["warnings"] else {
                Issue.record("\(json)")
                return
            }
            #expect(
                warnings.count == 1 && check.errorOutput.count { $0 == "\n" } == 1,
                "the file translates the others"
            )
            let without = try await CommandRun.of("flow", "check", file)
            #expect(without.status == 1 && without.errorOutput.contains("must be a list of en, ko, each at most once"))
            let show = try await CommandRun.of(
                "flow",
                "show",
                "--language",
                "ja",
                settings: settings.merging(["FLOW_FILE": file]) { $1 }
            )
            #expect(show.status == 0 && show.output.contains("メールアドレス"))
        }
    }
}
