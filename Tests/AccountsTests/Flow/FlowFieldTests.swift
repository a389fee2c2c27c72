import Testing

@testable import Accounts

@Suite("The fields of a flow file")
struct FlowFieldTests: FlowFileSuite {
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
        ("name: remove, kind: image", "the name \"remove\" is reserved: use another"),
        ("name: resend, kind: image", "the name \"resend\" is reserved: use another"),
        ("name: saved, kind: image", "the name \"saved\" is reserved: use another"),
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
        (
            "name: text, kind: text, pattern: '('",
            "\"pattern\" is not a valid RE2 expression, or needs too much memory"
        ),
        (
            "name: text, kind: text, pattern: '(a)\\1'",
            "\"pattern\" is not a valid RE2 expression, or needs too much memory"
        ),
        (
            "name: text, kind: text, pattern: 'a(?=b)'",
            "\"pattern\" is not a valid RE2 expression, or needs too much memory"
        ),
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
            "\"region\" must be an ISO 3166-1 code that libphonenumber supports, in capital letters, such as KR"
        ),
        (
            "name: phone, kind: phone, region: Korea",
            "\"region\" must be an ISO 3166-1 code that libphonenumber supports, in capital letters, such as KR"
        ),
        (
            "name: phone, kind: phone, region: 001",
            "\"region\" must be an ISO 3166-1 code that libphonenumber supports, in capital letters, such as KR"
        ),
        ("name: day, kind: date, future: true, min_age: 14", "a field with \"future\" cannot have \"min_age\""),
        ("name: day, kind: date, zone: Seoul", "unknown time zone \"Seoul\": use an IANA name such as Asia/Seoul"),
        ("name: day, kind: date, zone: [UTC]", "\"zone\" must be a non-empty string"),
        ("name: date, kind: date, min_age: 15, max_age: 14", "\"min_age\" must not be greater than \"max_age\""),
        ("name: date, kind: date, max_age: 9999", "\"max_age\" must be a whole number from 0 to 9998, not \"9999\""),
        ("name: password, kind: password, min: 7", "\"min\" must be a whole number from 8 to 64, not \"7\""),
        (
            "name: app, kind: totp",
            "a field of kind \"totp\" must come after a step with a field of kind \"code\""
        ),
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
        let reason = "\"email\" must be required, in a step that is not optional, because a code proves it"
        let field = yaml.replacing("kind: email,", with: "kind: email, required: false,")
        #expect(Self.refusal(of: field) == "flow.yaml:9: \(reason)")
        let step = yaml.replacing("name: first", with: "name: first\n    optional: true")
        #expect(Self.refusal(of: step) == "flow.yaml:10: \(reason)")
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
}
