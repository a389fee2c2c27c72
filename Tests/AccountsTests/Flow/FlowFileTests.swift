import Foundation
import Testing

@testable import Accounts

@Suite("The built-in flow")
struct StandardFlowTests {
    @Test func `the steps have the expected order, and only totp is optional`() throws {
        let flow = try Flow.standard()
        #expect(flow.id == "default@1")
        #expect(flow.steps.map(\.name) == ["email", "code", "password", "profile", "contact", "totp", "terms"])
        #expect(flow.steps.filter(\.isOptional).map(\.name) == ["totp"])
        #expect(flow.steps.map(\.href).first == "/signup/email")
    }

    @Test func `a draft expires a day after its last change, and after a week at the latest`() throws {
        let flow = try Flow.standard()
        #expect(flow.expiry.idle == .seconds(86_400) && flow.expiry.absolute == .seconds(604_800))
        #expect(flow.zone.identifier == "Asia/Seoul" && flow.languages == [.english, .korean])
    }

    @Test(arguments: [
        ("email", "email", "email", true, true), ("code", "code", "code", true, false),
        ("password", "password", "password", true, false), ("password", "confirmation", "confirmation", true, false),
        ("profile", "username", "username", true, true), ("profile", "display_name", "text", false, false),
        ("profile", "introduction", "text", false, false), ("profile", "photo", "image", false, false),
        ("contact", "phone", "phone", false, false),
        ("contact", "birth_date", "date", true, false),
        ("totp", "totp", "totp", true, false), ("terms", "terms", "consent", true, false),
        ("terms", "marketing", "consent", false, false),
    ])
    func `the flow has each of the expected fields`(
        step: String,
        field: String,
        kind: String,
        isRequired: Bool,
        isIdentifier: Bool
    )
        throws
    {
        let flow = try Flow.standard()
        let found = try #require(flow.step(named: StepName(step))?.field(named: FieldName(field)))
        #expect(type(of: found.kind).name == kind)
        #expect(found.isRequired == isRequired && found.isIdentifier == isIdentifier)
        #expect(flow.field(named: FieldName(field))?.name == found.name)
    }

    @Test func `the flow has no other fields`() throws {
        let flow = try Flow.standard()
        #expect(flow.fields.count == 13)
        #expect(flow.step(named: "review") == nil && flow.field(named: "avatar") == nil)
    }

    @Test(
        arguments: [
            ("email", [.init("max", 254)]),
            ("code", [.init("proves", "email"), .init("digits", 6)]),
            ("password", [.init("min", 15), .init("max", 256)]),
            ("confirmation", [.init("confirms", "password")]),
            ("display_name", [.init("min", 1), .init("max", 50), .init("lines", "one")]),
            ("introduction", [.init("min", 0), .init("max", 500), .init("lines", "many")]),
            ("birth_date", [.init("format", "YYYY-MM-DD"), .init("min_age", 14)]), ("phone", [.init("region", "KR")]),
        ] as [(String, [JSON.Member])]
    )
    func `each field has the expected rules`(field: String, rules: [JSON.Member]) throws {
        #expect(try Flow.standard().field(named: FieldName(field))?.kind.rules(in: .english) == rules)
    }

    @Test func `the code proves the address and has the default digits, attempts, lifetime and resend interval`() throws
    {
        let code = try #require(try Flow.standard().code(proving: "email"))
        #expect(code.field.name == "code" && code.kind.digits == 6 && code.kind.attempts == 5)
        #expect(code.kind.lifetime == .seconds(600) && code.kind.resendAfter == .seconds(60))
        #expect(try Flow.standard().code(proving: "username") == nil)
    }

    @Test func `every step and field has a text in every language`() throws {
        let flow = try Flow.standard()
        for texts in flow.steps.map(\.titles) + flow.fields.map(\.labels) {
            #expect(Set(texts.keys) == Set(Language.builtIn))
        }
    }
}

@Suite("A flow file")
struct FlowFileTests {
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
        let reason = "flow.yaml:4: \"title\" has no text in \"ja\": pages show"
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

    /// A flow file with these fields in its second step, one in each line from line 9 on.
    private static func file(_ fields: String...) -> String {
        """
        flow: test
        version: 1

        steps:
          - name: first
            title: {en: First}
            fields: [{name: email, kind: email, label: {en: E-mail}}]
          - {name: second, title: {en: Second}, fields: [
        \(fields.map { "    {\($0), label: {en: Field}}" }.joined(separator: ",\n"))
            ]}
        """
    }

    private static func refusal(of yaml: String) -> String? {
        do throws(YAMLFileError) {
            _ = try Flow(yaml: yaml, file: "flow.yaml")
            return nil
        } catch {
            return error.description
        }
    }

    /// The refusal of a file whose texts are not in Korean. It has a line for each text.
    private static let noKorean = """
        flow.yaml:7: "title" has no text for the language "ko"
        flow.yaml:8: "label" has no text for the language "ko"
        flow.yaml:9: "title" has no text for the language "ko"
        flow.yaml:10: "label" has no text for the language "ko"
        """

    // MARK: Sign-in

    private static let address = "name: mail, kind: email, identifier: true"
    private static let code = "name: code, kind: code, proves: mail"
    private static let password = "name: password, kind: password"

    /// A flow file with these fields, one in each step, and more lines at its end.
    private static func flow(_ fields: [String], _ lines: String = "") -> String {
        let steps = fields.enumerated().map { number, field in
            "  - {name: s\(number), title: {en: Step}, fields: [{\(field), label: {en: Field}}]}"
        }
        return (["flow: test", "version: 1", "steps:"] + steps + [lines]).joined(separator: "\n")
    }

    @Test(
        arguments: [
            ([address, code, password], "", [.password]), ([address, code], "", [.code]),
            (["name: a, kind: text"], "", []),
            ([address, code, password], "sign_in: [code]", [.code]),
            ([address, code, password], "sign_in: [password, code]", [.password, .code]),
        ] as [([String], String, Set<SignInRules.Method>)]
    )
    func `the flow lists the methods to sign in; by default it is the password, or else a code`(
        fields: [String],
        lines: String,
        methods: Set<SignInRules.Method>
    ) throws {
        let rules = try Flow(yaml: Self.flow(fields, lines), file: "flow.yaml").signIn
        #expect(rules.methods == methods && rules.startsSessionAtCommit)
    }

    @Test(arguments: [
        ([address, code, password], "sign_in: []", "\"sign_in\" must be a list of password, code, each at most once"),
        (
            [address, code, password], "sign_in: code",
            "\"sign_in\" must be a list of password, code, each at most once"
        ),
        (
            [address, code, password], "sign_in: [sms]",
            "\"sign_in\" must be a list of password, code, each at most once"
        ),
        (
            [address, code, password], "sign_in: [code, code]",
            "\"sign_in\" must be a list of password, code, each at most once"
        ),
        (
            [address, code], "sign_in: [password]",
            "\"sign_in\" has password, so the flow needs a field of kind \"password\""
        ),
        ([password], "sign_in: [code]", "\"sign_in\" has code, so the flow needs an identifier of kind \"email\""),
        ([password], "after_commit: sign-in", "\"after_commit\" must be one of session, none, not \"sign-in\""),
    ])
    func `sign-in rules that are malformed, or that lack a field of the flow, are refused`(
        fields: [String],
        lines: String,
        reason: String
    ) throws {
        let refusal = try #require(Self.refusal(of: Self.flow(fields, lines)))
        #expect(refusal == "flow.yaml:\(4 + fields.count): \(reason)")
    }

    @Test func `a flow can start no session after the commit`() throws {
        let flow = try Flow(yaml: Self.flow([Self.password], "after_commit: none"), file: "flow.yaml")
        #expect(!flow.signIn.startsSessionAtCommit)
    }

    @Test func `missing keys have default values`() throws {
        let flow = try Flow(yaml: Self.file("name: text, kind: text"), file: "flow.yaml")
        #expect(flow.id == "test@1" && flow.zone == .gmt && flow.languages == [.english])
        #expect(flow.expiry.idle == .seconds(86_400) && flow.expiry.absolute == .seconds(604_800))
        #expect(flow.fields.map(\.isRequired) == [true, true] && flow.fields.map(\.isIdentifier) == [false, false])
        #expect(flow.steps.map(\.isOptional) == [false, false])
    }

    @Test(arguments: [
        "name: text, kind: text, required: false", "name: email2, kind: email",
        "name: name, kind: username, identifier: true", "name: first, kind: text", "name: review, kind: text",
        "name: code, kind: code, proves: email", "name: 0-_z, kind: date, min_age: 14, max_age: 14",
        "name: \(String(repeating: "n", count: 40)), kind: text", "name: text, kind: text, min: 5, max: 5",
        "name: text, kind: text, help: {en: As on your card}", "name: text, kind: text, help: As on your card",
        "name: text, kind: text, autocomplete: given-name", "name: text, kind: text, pattern: '[A-Z]{2}[0-9]+'",
        "name: phone, kind: phone", "name: phone, kind: phone, region: US",
        "name: day, kind: date, future: true, zone: America/New_York",
    ])
    func `a field with valid rules is accepted`(field: String) {
        #expect(Self.refusal(of: Self.file(field)) == nil)
    }

    @Test(arguments: [
        ("name: text, kind: text, colour: red", "unknown key \"colour\""),
        ("name: text, kind: text, digits: 6", "unknown key \"digits\""),
        ("name: text, kind: text, Required: true", "unknown key \"Required\": did you mean \"required\"?"),
        ("name: photo, kind: picture", "unknown kind \"picture\""),
        ("name: check, kind: image", "the name \"check\" is reserved: use another"),
        ("name: resend, kind: image", "the name \"resend\" is reserved: use another"),
        ("name: text, kind: Text", "unknown kind \"Text\""),
        ("kind: text", "\"name\" is missing"),
        ("name: text", "\"kind\" is missing"),
        ("name: [text], kind: text", "\"name\" must be a non-empty string"),
        ("name: '', kind: text", "\"name\" must be a non-empty string"),
        ("name: Text, kind: text", "invalid name \"Text\": use 1 to 40 characters of a-z, 0-9, _ and -"),
        ("name: a/b, kind: text", "invalid name \"a/b\": use 1 to 40 characters of a-z, 0-9, _ and -"),
        ("name: naïve, kind: text", "invalid name \"naïve\": use 1 to 40 characters of a-z, 0-9, _ and -"),
        (
            "name: \(String(repeating: "n", count: 41)), kind: text",
            "invalid name \"\(String(repeating: "n", count: 41))\": use 1 to 40 characters of a-z, 0-9, _ and -"
        ),
        ("name: email, kind: text", "a field named \"email\" already exists"),
        ("name: text, kind: text, required: perhaps", "\"required\" must be one of true, false, not \"perhaps\""),
        (
            "name: text, kind: text, identifier: true",
            "only a field of kind \"email\" or \"username\" can be an identifier"
        ),
        ("name: text, kind: text, min: 6, max: 5", "\"min\" must not be greater than \"max\""),
        ("name: text, kind: text, min: 501", "\"min\" must not be greater than \"max\""),
        ("name: text, kind: text, min: -1", "\"min\" must be a whole number from 0 to 10000, not \"-1\""),
        ("name: text, kind: text, max: 0", "\"max\" must be a whole number from 1 to 10000, not \"0\""),
        ("name: text, kind: text, max: 10001", "\"max\" must be a whole number from 1 to 10000, not \"10001\""),
        ("name: text, kind: text, max: 5.0", "\"max\" must be a whole number from 1 to 10000, not \"5.0\""),
        ("name: text, kind: text, max: ٥", "\"max\" must be a whole number from 1 to 10000, not \"٥\""),
        (
            "name: text, kind: text, max: 99999999999999999999",
            "\"max\" must be a whole number from 1 to 10000, not \"99999999999999999999\""
        ),
        ("name: text, kind: text, lines: two", "\"lines\" must be one of one, many, not \"two\""),
        ("name: text, kind: text, pattern: '('", "\"pattern\" is not a valid RE2 expression"),
        ("name: text, kind: text, pattern: '(a)\\1'", "\"pattern\" is not a valid RE2 expression"),
        ("name: text, kind: text, pattern: 'a(?=b)'", "\"pattern\" is not a valid RE2 expression"),
        ("name: text, kind: text, help: {fr: Aide}", "unknown key \"fr\""),
        ("name: text, kind: text, help: {}", "\"help\" has no text for the language \"en\""),
        ("name: text, kind: text, help: '  '", "\"help\" must map each language to a text, such as {en: Name}"),
        ("name: text, kind: text, help: ~", "\"help\" must map each language to a text, such as {en: Name}"),
        (
            "name: text, kind: text, help: \"a\\x1b[2Jb\"",
            "\"help\" contains characters that are not allowed, such as control characters"
        ),
        (
            "name: text, kind: text, help: {en: \"two\\nlines\"}",
            "\"help\" contains characters that are not allowed, such as control characters"
        ),
        ("name: text, kind: text, pattern: \"a\\nb\"", "\"pattern\" must be one line without control characters"),
        (
            "name: phone, kind: phone, region: kr",
            "\"region\" must be an ISO 3166-1 code in capital letters, such as KR"
        ),
        (
            "name: phone, kind: phone, region: Korea",
            "\"region\" must be an ISO 3166-1 code in capital letters, such as KR"
        ),
        (
            "name: phone, kind: phone, region: 001",
            "\"region\" must be an ISO 3166-1 code in capital letters, such as KR"
        ),
        ("name: day, kind: date, future: true, min_age: 14", "a field with \"future\" cannot have \"min_age\""),
        ("name: day, kind: date, zone: Seoul", "unknown time zone \"Seoul\": use an IANA name such as Asia/Seoul"),
        ("name: day, kind: date, zone: [UTC]", "\"zone\" must be a non-empty string"),
        ("name: date, kind: date, min_age: 15, max_age: 14", "\"min_age\" must not be greater than \"max_age\""),
        ("name: date, kind: date, max_age: 9999", "\"max_age\" must be a whole number from 0 to 9998, not \"9999\""),
        ("name: password, kind: password, min: 7", "\"min\" must be a whole number from 8 to 64, not \"7\""),
        ("name: app, kind: totp", "a field of kind \"totp\" must come after a step with a code"),
        ("name: code, kind: code", "\"proves\" is missing"),
        ("name: code, kind: code, proves: phone", "\"proves\" must name a field of kind \"email\" in an earlier step"),
        ("name: code, kind: code, proves: code", "\"proves\" must name a field of kind \"email\" in an earlier step"),
        ("name: code, kind: code, proves: email, required: false", "a field of kind \"code\" cannot be optional"),
        ("name: again, kind: confirmation", "\"confirms\" is missing"),
        (
            "name: again, kind: confirmation, confirms: password",
            "\"confirms\" must name an earlier field of kind \"password\" in the same step"
        ),
        (
            "name: again, kind: confirmation, confirms: email",
            "\"confirms\" must name an earlier field of kind \"password\" in the same step"
        ),
        (
            "name: again, kind: confirmation, confirms: again",
            "\"confirms\" must name an earlier field of kind \"password\" in the same step"
        ),
        ("name: terms, kind: consent, document: {en: x}", "\"version\" is missing"),
        ("name: terms, kind: consent, version: v1", "\"document\" is missing"),
        ("name: terms, kind: consent, version: v1, document: {}", "\"document\" has no text for the language \"en\""),
        ("name: terms, kind: consent, version: v1, document: {fr: x}", "unknown key \"fr\""),
    ])
    func `an invalid field is refused, and the error has its line`(field: String, reason: String) {
        #expect(Self.refusal(of: Self.file(field)) == "flow.yaml:9: \(reason)")
        #expect(Self.refusal(of: Self.file("name: before, kind: text", field)) == "flow.yaml:10: \(reason)")
    }

    @Test(arguments: [
        (
            ["name: a, kind: password", "name: b, kind: password"],
            "10: a flow can have only one field of kind \"password\""
        ),
        (
            ["name: a, kind: code, proves: email", "name: b, kind: code, proves: email"],
            "10: another code already proves \"email\""
        ),
        (
            ["name: a, kind: username, identifier: true", "name: b, kind: username, identifier: true"],
            "10: \"a\" is already the identifier of kind \"username\""
        ),
        (["name: id, kind: text"], "9: the name \"id\" is reserved: use another"),
        (["name: username, kind: text"], "9: only a field of kind \"username\" can be named \"username\""),
        (
            ["name: nick, kind: username, identifier: true", "name: username, kind: username"],
            "4: rename the field \"username\": the account stores its identifier \"nick\" under this name"
        ),
        (
            ["name: a, kind: password, required: false", "name: b, kind: confirmation, confirms: a"],
            "10: \"a\" is optional, so its confirmation must be optional too"
        ),
        (
            ["name: a, kind: email, identifier: true"],
            "9: the identifier \"a\" needs a field of kind \"code\" that proves it"
        ),
    ])
    func `a flow that cannot lead to a consistent commit is refused`(fields: [String], reason: String) {
        let yaml = Self.file().replacing(
            "second, title: {en: Second}, fields: [\n",
            with: "second, title: {en: Second}, fields: [\n"
                + fields.map { "    {\($0), label: {en: Field}}" }.joined(separator: ",\n")
        )
        #expect(Self.refusal(of: yaml) == "flow.yaml:\(reason)")
    }

    @Test(arguments: [("", true), (", required: false", false)])
    func `a minimum password length below 15 needs a required authenticator`(rule: String, isAllowed: Bool) {
        let fields = ["name: code, kind: code, proves: email", "name: password, kind: password, min: 8"]
        let second = Self.file(fields[0], fields[1]) + "\n"
        let third =
            "  - name: third\n    title: {en: Third}\n    fields: [{name: app, kind: totp\(rule), label: {en: App}}]\n"
        let short = "flow.yaml:10: a minimum below 15 needs a required field of kind \"totp\" in the flow"
        #expect(Self.refusal(of: second) == short)
        #expect(Self.refusal(of: second + third) == (isAllowed ? nil : short))
        let optional = third.replacing("name: third", with: "name: third\n    optional: true")
        #expect(Self.refusal(of: second + optional) == short)
    }

    @Test func `an address that a code proves must be required`() {
        let yaml = Self.file("name: code, kind: code, proves: email")
            .replacing("kind: email,", with: "kind: email, required: false,")
        #expect(Self.refusal(of: yaml) == "flow.yaml:9: \"email\" must be required, because a code proves it")
    }

    @Test func `an optional step with a code is refused`() {
        let yaml = Self.file("name: code, kind: code, proves: email")
            .replacing("name: second,", with: "name: second, optional: true,")
        #expect(Self.refusal(of: yaml) == "flow.yaml:8: a step with a field of kind \"code\" cannot be optional")
    }

    @Test(arguments: ["5m", "60s", "10m", "600s"])
    func `a duration with a unit is accepted`(lifetime: String) {
        #expect(Self.refusal(of: Self.file("name: code, kind: code, proves: email, lifetime: \(lifetime)")) == nil)
    }

    @Test(arguments: [
        "600", "m", "'5 m'", "5min", "-5m", "0.5h", "5M", "٥m", "59s", "601s", "1h", "1w", "1000000s",
        "99999999999999999999s",
        "[5m]",
    ])
    func `a duration without a unit or out of bounds is refused, and the error has its line`(lifetime: String) throws {
        let field = "name: code, kind: code, proves: email, lifetime: \(lifetime)"
        let refusal = try #require(Self.refusal(of: Self.file(field)))
        #expect(refusal.hasPrefix("flow.yaml:9: \"lifetime\" must be a "))
    }

    @Test func `a code can only prove an address of an earlier step`() {
        let proves = "flow.yaml:9: \"proves\" must name a field of kind \"email\" in an earlier step"
        #expect(
            Self.refusal(of: Self.file("name: code, kind: code, proves: late", "name: late, kind: email")) == proves
        )
        let same = Self.file("name: late, kind: email", "name: code, kind: code, proves: late")
        let reason = #""proves" must name a field of kind "email" in an earlier step"#
        #expect(Self.refusal(of: same) == "flow.yaml:10: \(reason)")
        let text =
            Self.file("name: text, kind: text") + """

                  - name: third
                    title: {en: Third}
                    fields:
                      - name: code
                        kind: code
                        proves: text
                        label: {en: Code}
                """
        #expect(Self.refusal(of: text) == "flow.yaml:16: \(reason)")
        #expect(Self.refusal(of: text.replacing("proves: text", with: "proves: email")) == nil)
    }

    @Test func `a confirmation must follow its password in the same step`() {
        let (password, again) = (
            "name: password, kind: password", "name: again, kind: confirmation, confirms: password"
        )
        #expect(Self.refusal(of: Self.file(password, again)) == nil)
        let reason = "\"confirms\" must name an earlier field of kind \"password\" in the same step"
        #expect(Self.refusal(of: Self.file(again, password)) == "flow.yaml:9: \(reason)")
        let later =
            Self.file(password) + """

                  - name: third
                    title: {en: Third}
                    fields: [{\(again), label: {en: Again}}]
                """
        #expect(Self.refusal(of: later) == "flow.yaml:13: \(reason)")
    }

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
            "version: 1", "version: 1\ndraft:\n  idle: 1d\n  absolute: 91d",
            "flow.yaml:5: \"absolute\" must be a duration from 1m to 90d (units: s, m, h, d), not \"91d\""
        ),
        (
            "version: 1", "version: 1\nlimits: {starts: 120}",
            "flow.yaml:3: \"starts\" must be a count up to 2000 and a period up to a day, such as 5/1h, not \"120\""
        ),
        (
            "version: 1", "version: 1\nlimits:\n  starts: 9/1h\n  commits: 0/1h",
            "flow.yaml:5: \"commits\" must be a count up to 2000 and a period up to a day, such as 5/1h, not \"0/1h\""
        ),
        (
            "version: 1", "version: 1\nlimits: {starts: 5/2d}",
            "flow.yaml:3: \"starts\" must be a count up to 2000 and a period up to a day, such as 5/1h, not \"5/2d\""
        ),
        (
            "version: 1", "version: 1\nlimits: {mails: 100001/1h}",
            "flow.yaml:3: \"mails\" must be a count up to 100000 and a period up to a day, such as 5/1h, not \"100001/1h\""
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

    @Test(arguments: ["a:\nb", "a:\nb\n", "a: [", "a: [\n", "\"", "a: b\n- c\n", "---", "---\n"])
    func `the error for an invalid file names a line that exists`(yaml: String) throws {
        let error = #expect(throws: YAMLFileError.self) { try Flow(yaml: yaml, file: "flow.yaml") }
        let line = try #require(error?.line)
        #expect((1...yaml.split(separator: "\n").count).contains(line))
    }

    @Test(arguments: ["steps: []", "steps: first", "steps: {}", ""])
    func `a flow without steps is refused`(steps: String) {
        let refusal = Self.refusal(of: "flow: test\nversion: 1\n\(steps)\n")
        #expect(refusal == "flow.yaml:\(steps.isEmpty ? 1 : 3): \"steps\" must be a list with at least one entry")
    }

    @Test(arguments: [
        ("flow: test\nversion: 1\nflow: other\n", "flow.yaml:1: \"flow\" appears twice"),
        ("flow: test\nversion: 1\nsteps:\n  - name: a\n    name: b\n", "flow.yaml:4: \"name\" appears twice"),
        ("flow: test\ndraft: {idle: 1h, idle: 2h}\n", "flow.yaml:2: \"idle\" appears twice"),
        ("flow: test\n1: one\n\"1\": two\n", "flow.yaml:3: \"1\" appears twice"),
    ])
    func `a repeated key is refused`(yaml: String, refusal: String) {
        #expect(Self.refusal(of: yaml) == refusal)
    }

    @Test(arguments: [
        ("flow: [test\nversion: 1\n", "flow.yaml:2"),
        ("flow: test\n\tversion: 1\n", "flow.yaml:2"),
        ("flow: test\nversion: 1\nsteps:\n  - name: 'a\n", "flow.yaml:4"),
        ("flow: *nowhere\n", "flow.yaml:1"),
        ("flow: test\n---\nflow: other\n", "flow.yaml:2"),
        ("flow: \u{1}\n", "flow.yaml"),
        ("}", "flow.yaml:1"),
    ])
    func `a file that is not valid YAML is refused`(yaml: String, place: String) throws {
        let refusal = try #require(Self.refusal(of: yaml))
        let reason = "\(place): not valid YAML: "
        #expect(refusal.hasPrefix(reason) && refusal.count > reason.count && !refusal.contains("\n"))
    }

    @Test(arguments: ["", "\n\n", "# a comment\n", "   "])
    func `an empty file is refused`(yaml: String) {
        #expect(Self.refusal(of: yaml) == "flow.yaml: the file is empty")
    }

    @Test(arguments: ["flow", "[flow, version]", "1", "~", "[{flow: test}]"])
    func `a file that is not a mapping is refused`(yaml: String) {
        #expect(Self.refusal(of: yaml) == "flow.yaml:1: expected a mapping")
    }

    @Test(arguments: ["{[a]: 1}", "{{a: 1}: 1}"])
    func `a key that is not a string is refused`(yaml: String) {
        #expect(Self.refusal(of: yaml) == "flow.yaml:1: a key must be a string")
    }

    @Test func `a file is read from its path, and an unreadable file is named in the error`() throws {
        let path = NSTemporaryDirectory() + "flow-\(UUID().uuidString).yaml"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let missing = #expect(throws: YAMLFileError.self) { try Flow(contentsOf: path) }
        #expect(missing?.description == "\(path): cannot read the file: No such file or directory")
        try Data(Self.file("name: text, kind: text").utf8).write(to: URL(filePath: path))
        #expect(try Flow(contentsOf: path).id == "test@1")
        try Data([0x66, 0x6C, 0x6F, 0x77, 0x3A, 0x20, 0xFF]).write(to: URL(filePath: path))
        let unreadable = #expect(throws: YAMLFileError.self) { try Flow(contentsOf: path) }
        #expect(unreadable?.description == "\(path): the file is not UTF-8 text")
    }
}
