import Foundation
import Testing

@testable import Accounts

@Suite("A flow file")
struct FlowFileTests: FlowFileSuite {
    @Test
    func `a language of a file of texts has English texts, or those of the first language, where it lacks its own`()
        throws
    {
        let languages = try TextsFile("languages: {ja: {name: 日本語}}", file: "texts.yaml").languages
        func flow(_ tags: String, _ title: String) throws -> Flow {
            let field = "{name: a, kind: text, label: {en: A, ko: 가, ja: あ}}"
            let yaml =
                "flow: a\nversion: 1\nlanguages: \(tags)\n"
                + "steps: [{name: one, title: \(title), fields: [\(field)]}]"
            return try Flow(yaml: yaml, file: "flow.yaml", among: languages)
        }
        let japanese = try #require(languages["ja"])
        let english = try flow("[ja, ko, en]", "{en: One, ko: 하나}")
        #expect(english.languages.map(\.tag) == ["ja", "ko", "en"])
        #expect(english.steps[0].titles[japanese] == "One" && english.steps[0].fields[0].labels[japanese] == "あ")
        let reason = "flow.yaml:4: \"title\" has no text in \"ja\": pages show the text in"
        #expect(english.gaps.map(\.description) == ["\(reason) \"en\""])
        let korean = try flow("[ko, ja]", "{ko: 하나}")
        #expect(korean.steps[0].titles[japanese] == "하나" && korean.gaps.map(\.description) == ["\(reason) \"ko\""])
        #expect(try flow("[en, ko]", "{en: One, ko: 하나}").gaps.isEmpty)
        let errors: [(tags: String, title: String, reason: String)] = [
            ("[ja, ko]", "{ko: 하나}", "\"title\" has no text for the language \"ja\""),
            ("[en, ko, ja]", "{en: One, ja: 一}", "\"title\" has no text for the language \"ko\""),
            ("[en, fr]", "{en: One}", "\"languages\" must be a list of en, ko, ja, each at most once"),
        ]
        for (tags, title, reason) in errors {
            let error = #expect(throws: YAMLFileError.self) { try flow(tags, title) }
            #expect(error?.reason == reason)
        }
    }

    @Test func `missing keys have default values`() throws {
        let flow = try Flow(yaml: Self.file("name: text, kind: text"), file: "flow.yaml")
        #expect(flow.id == "test@1" && flow.zone == .gmt && flow.languages == [.english])
        #expect(flow.expiry.idle == .seconds(86_400) && flow.expiry.absolute == .seconds(604_800))
        #expect(flow.fields.map(\.isRequired) == [true, true] && flow.fields.map(\.isIdentifier) == [false, false])
        #expect(flow.steps.map(\.isOptional) == [false, false])
    }

    /// The refusal of a file whose texts are not in Korean. It has a line for each text.
    private static let noKorean = """
        flow.yaml:7: "title" has no text for the language "ko"
        flow.yaml:8: "label" has no text for the language "ko"
        flow.yaml:9: "title" has no text for the language "ko"
        flow.yaml:10: "label" has no text for the language "ko"
        """

    @Test(arguments: [
        ("flow: test", "", "flow.yaml:2: \"flow\" is missing"),
        ("flow: test", "flow: ''", "flow.yaml:1: \"flow\" must be a non-empty string"),
        ("version: 1", "", "flow.yaml:1: \"version\" is missing"),
        ("version: 1", "version: 0", "flow.yaml:2: \"version\" must be a whole number from 1 to 1000000, not \"0\""),
        (
            "version: 1", "version: one",
            "flow.yaml:2: \"version\" must be a whole number from 1 to 1000000, not \"one\""
        ),
        ("version: 1", "version: 1\ncolour: red", "flow.yaml:3: unknown key \"colour\""),
        (
            "version: 1", "version: 1\nzone: Mars/Olympus",
            "flow.yaml:3: unknown time zone \"Mars/Olympus\": use an IANA name such as Asia/Seoul"
        ),
        ("version: 1", "version: 1\nzone: [UTC]", "flow.yaml:3: \"zone\" must be a non-empty string"),
        (
            "version: 1", "version: 1\nlanguages: []",
            "flow.yaml:3: \"languages\" must be a list of en, ko, each at most once"
        ),
        (
            "version: 1", "version: 1\nlanguages: en",
            "flow.yaml:3: \"languages\" must be a list of en, ko, each at most once"
        ),
        (
            "version: 1", "version: 1\nlanguages: [en, fr]",
            "flow.yaml:3: \"languages\" must be a list of en, ko, each at most once"
        ),
        (
            "version: 1", "version: 1\nlanguages: [ko, ko]",
            "flow.yaml:3: \"languages\" must be a list of en, ko, each at most once"
        ),
        (
            "version: 1", "version: 1\nlanguages: [en, [ko]]",
            "flow.yaml:3: \"languages\" must be a list of en, ko, each at most once"
        ),
        ("version: 1", "version: 1\ndraft: 24h", "flow.yaml:3: expected a mapping"),
        ("version: 1", "version: 1\ndraft: {age: 24h}", "flow.yaml:3: unknown key \"age\""),
        (
            "version: 1", "version: 1\ndraft: {idle: 8d}",
            "flow.yaml:3: \"idle\" (24h by default) must not be longer than \"absolute\" (7d by default)"
        ),
        (
            "version: 1", "version: 1\ndraft: {absolute: 23h}",
            "flow.yaml:3: \"idle\" (24h by default) must not be longer than \"absolute\" (7d by default)"
        ),
        (
            "version: 1", "version: 1\ndraft: {idle: 59s}",
            "flow.yaml:3: \"idle\" must be a duration from 1m to 30d (units: s, m, h, d), not \"59s\""
        ),
        (
            "version: 1", "version: 1\ndraft: {idle: -999999999999999d}",
            "flow.yaml:3: \"idle\" must be a duration from 1m to 30d (units: s, m, h, d), not \"-999999999999999d\""
        ),
        (
            "version: 1", "version: 1\ndraft:\n  idle: 1d\n  absolute: 91d",
            "flow.yaml:5: \"absolute\" must be a duration from 1m to 90d (units: s, m, h, d), not \"91d\""
        ),
        (
            "version: 1", "version: 1\nlimits: {starts: 120}",
            "flow.yaml:3: \"starts\" must be a count from 1 to 2000 per 1s to 1d, such as 5/1h, not \"120\""
        ),
        (
            "version: 1", "version: 1\nlimits:\n  starts: 9/1h\n  commits: 0/1h",
            "flow.yaml:5: \"commits\" must be a count from 1 to 2000 per 1s to 1d, such as 5/1h, not \"0/1h\""
        ),
        (
            "version: 1", "version: 1\nlimits: {starts: 5/2d}",
            "flow.yaml:3: \"starts\" must be a count from 1 to 2000 per 1s to 1d, such as 5/1h, not \"5/2d\""
        ),
        (
            "version: 1", "version: 1\nlimits: {mails: 100001/1h}",
            "flow.yaml:3: \"mails\" must be a count from 1 to 100000 per 1s to 1d, such as 5/1h, not \"100001/1h\""
        ),
        ("version: 1", "version: 1\nlimits: {logins: 5/1h}", "flow.yaml:3: unknown key \"logins\""),
        (
            "version: 1", "version: 1\nlimits: {revisions: 9}",
            "flow.yaml:3: \"revisions\" must be a whole number from 10 to 1000000, not \"9\""
        ),
        ("name: first", "names: first", "flow.yaml:5: unknown key \"names\": did you mean \"name\"?"),
        (
            "name: first", "name: First",
            "flow.yaml:5: invalid name \"First\": use 1 to 40 characters of a-z, 0-9, _ and -"
        ),
        ("name: first", "name: second", "flow.yaml:8: a step named \"second\" already exists"),
        ("title: {en: First}", "", "flow.yaml:5: \"title\" is missing"),
        ("title: {en: First}", "title: {}", "flow.yaml:6: \"title\" has no text for the language \"en\""),
        ("version: 1", "version: 1\nlanguages: [ko]", noKorean),
        ("version: 1", "version: 1\nlanguages: [en, ko]", noKorean),
        ("version: 1", "version: 1\nservice: {en: Acme}", "flow.yaml:3: \"service\" must be a non-empty string"),
        (
            "version: 1", "version: 1\nservice: |\n  Acme",
            "flow.yaml:3: \"service\" must be one line without control characters"
        ),
        ("version: 1", "version: 1\nservice: ~", "flow.yaml:3: \"service\" must be a non-empty string"),
        ("title: {en: First}", "title: {en: First, fr: Premier}", "flow.yaml:6: unknown key \"fr\""),
        ("title: {en: First}", "title: {en: [First]}", "flow.yaml:6: \"en\" must be a non-empty string"),
        ("title: {en: First}", "title: {en: First}\n    colour: red", "flow.yaml:7: unknown key \"colour\""),
        (
            "title: {en: First}", "title: {en: First}\n    optional: maybe",
            "flow.yaml:7: \"optional\" must be one of true, false, not \"maybe\""
        ),
        (
            "fields: [{name: email, kind: email, label: {en: E-mail}}]", "fields: []",
            "flow.yaml:7: \"fields\" must be a list with at least one entry"
        ),
        (
            "fields: [{name: email, kind: email, label: {en: E-mail}}]", "fields: email",
            "flow.yaml:7: \"fields\" must be a list with at least one entry"
        ),
        (
            "fields: [{name: email, kind: email, label: {en: E-mail}}]", "fields: [email]",
            "flow.yaml:7: expected a mapping"
        ),
        (
            "fields: [{name: email, kind: email, label: {en: E-mail}}]", "",
            "flow.yaml:5: \"fields\" must be a list with at least one entry"
        ),
        (", label: {en: E-mail}", "", "flow.yaml:7: \"label\" is missing"),
    ])
    func `an invalid flow is refused, and the error has the line`(line: String, other: String, refusal: String) {
        let file = Self.file("name: text, kind: text")
        let changed = file.replacing(line, with: other, maxReplacements: 1)
        #expect(changed != file)
        #expect(Self.refusal(of: changed) == refusal)
    }

    @Test func `limits have the default values unless the file overrides them`() throws {
        let limits = try Flow.standard().limits
        #expect(
            limits[.starts] == Limit(120, per: .seconds(600)) && limits[.commits] == Limit(100, per: .seconds(3600))
        )
        #expect(limits[.mailsToAddressFromNetwork] == Limit(5, per: .seconds(3600)))
        #expect(limits[.mailsToAddress] == Limit(30, per: .seconds(86_400)))
        #expect(limits[.mailsToAddressFromNetworkPerDay] == Limit(10, per: .seconds(86_400)))
        #expect(limits[.mailsFromNetwork] == Limit(100, per: .seconds(3600)))
        #expect(limits[.mails] == Limit(10_000, per: .seconds(3600)))
        #expect(limits[.guessesForAddressFromNetwork] == Limit(25, per: .seconds(86_400)))
        #expect(limits[.guessesForAddress] == Limit(100, per: .seconds(86_400)))
        #expect(limits[.usernameChecks] == Limit(60, per: .seconds(3600)) && limits.revisions == 600)
        #expect(limits[.passwordHashes] == Limit(20, per: .seconds(3600)))
        #expect(limits[.passwordHashesFromNetwork] == Limit(120, per: .seconds(600)))
        #expect(limits[.images] == Limit(60, per: .seconds(3600)))
        #expect(limits[.imagesFromNetwork] == Limit(240, per: .seconds(3600)))
        #expect(limits[.noticesToAccount] == Limit(30, per: .seconds(86_400)))
        let file = Self.file("name: text, kind: text")
            .replacing("version: 1", with: "version: 1\nlimits: {starts: 7/1d, mails: 100000/1d, revisions: 10}")
        let changed = try Flow(yaml: file, file: "flow.yaml").limits
        #expect(changed[.starts] == Limit(7, per: .seconds(86_400)) && changed.revisions == 10)
        #expect(changed[.mails] == Limit(100_000, per: .seconds(86_400)))
        #expect(changed[.commits] == limits[.commits])
    }

    @Test(arguments: ["review", "commit", "schema", "handoff", "resume", "ticket", "cancel"])
    func `a reserved step name is refused`(name: String) {
        let file = Self.file("name: text, kind: text").replacing("name: first", with: "name: \(name)")
        #expect(Self.refusal(of: file) == "flow.yaml:5: the name \"\(name)\" is reserved: use another")
    }

    @Test(arguments: ["steps: []", "steps: first", "steps: {}", ""])
    func `a flow without steps is refused`(steps: String) {
        let refusal = Self.refusal(of: "flow: test\nversion: 1\n\(steps)\n")
        #expect(refusal == "flow.yaml:\(steps.isEmpty ? 1 : 3): \"steps\" must be a list with at least one entry")
    }

    @Test func `a file is read from its path, and an unreadable file is named in the error`() throws {
        let path = NSTemporaryDirectory() + "flow-\(UUID().uuidString).yaml"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let missing = #expect(throws: YAMLFileError.self) { try Flow(contentsOf: path) }
        #expect(missing?.description == "\(path): cannot read the file: No such file or directory")
        let folder = #expect(throws: YAMLFileError.self) { try Flow(contentsOf: "/") }
        #expect(folder?.description == "/: cannot read the file: Is a directory")
        try Data(Self.file("name: text, kind: text").utf8).write(to: URL(filePath: path))
        #expect(try Flow(contentsOf: path).id == "test@1")
        try Data([0x66, 0x6C, 0x6F, 0x77, 0x3A, 0x20, 0xFF]).write(to: URL(filePath: path))
        let unreadable = #expect(throws: YAMLFileError.self) { try Flow(contentsOf: path) }
        #expect(unreadable?.description == "\(path): the file is not UTF-8 text")
    }
}
