import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("A file of texts")
struct TextsFileTests {
    private static func languages(_ yaml: String) throws -> [Language] {
        try TextsFile("languages:\n\(yaml)", file: "texts.yaml").languages
    }

    private static func path(_ name: String) -> String { Repository.root.appending(path: name).path }

    // MARK: Built-in texts

    @Test func `the built-in languages have the same texts, for everything that the service says`() {
        let (english, korean) = (Language.builtInTexts[0], Language.builtInTexts[1])
        #expect(Set(english.texts.keys) == Set(korean.texts.keys))
        let needed = TextRule.all.keys.filter { !$0.hasPrefix("refusals.") || $0.hasSuffix(".other") }
        #expect(Set(needed).subtracting(english.texts.keys).isEmpty)
        #expect(Language.builtIn.map(\.nativeName) == ["English", "한국어"])
    }

    @Test(arguments: ["en", "ko"])
    func `the built-in file is itself a file of texts`(tag: String) throws {
        let file = try TextsFile(contentsOf: Self.path("Sources/Accounts/Messages/\(tag).yaml"))
        #expect(file.languages == Language.builtIn && file.missing.isEmpty && file.count > 300)
    }

    @Test(arguments: Language.builtIn)
    func `no text keeps a placeholder, except for the script`(language: Language) throws {
        let messages = language.messages
        var texts = ProblemKind.allCases.map(messages.title)
        texts += Word.allCases.filter(\.placeholders.isEmpty).map(messages.text)
        let params: [String: JSON] = ["min": 2, "max": 5, "digits": 6, "attempts_left": 3]
        for code in Refusal.Code.allCases {
            for topic in RefusalTopic.allCases {
                texts.append(messages.message(for: Refusal("a", code, params), about: topic, label: "A"))
                texts.append(messages.message(for: Refusal("a", code), about: topic, label: nil))
            }
        }
        for wait in [RoundedWait.seconds(1), .minutes(2), .hours(3)] { texts.append(messages.tooOften(wait)) }
        texts.append(messages.tooManyAppCodes(.hours(1)))
        texts += [messages.signUp(serviceName: "Acme"), messages.continueTo("Shop")]
        texts.append(messages.text(try #require(CivilDate(json: "2001-02-28"))))
        let pages = [
            messages.resume("k…@a.example", serviceName: "Acme"), messages.linkExpired(serviceName: "Acme"),
            messages.ticketExpired(serviceName: "Acme"),
        ]
        for page in pages + FlowPurpose.allCases.map({ messages.ticket("k", for: $0, serviceName: "Acme") }) {
            texts += [page.title, page.text, page.button ?? ""]
        }
        var mails = [
            messages.handoff("https://a.example/", code: "AAAA", minutes: 1, serviceName: "Acme"),
            messages.alreadyRegistered(serviceName: "Acme", link: "https://a.example/"),
            messages.accountCreated(
                serviceName: "Acme",
                address: "kim@a.example",
                link: "https://a.example/recovery",
                contact: "https://a.example/help"
            ),
            messages.addressLeft(serviceName: "Acme", days: 7, link: "https://a.example/", code: "abc"),
        ]
        for mail in CodeMail.allCases {
            mails.append(messages.text(of: mail, "012345", minutes: 10, link: "https://a", serviceName: "Acme"))
        }
        for notice in AccountNotice.allCases {
            mails.append(messages.accountChanged(notice, serviceName: "Acme", link: "https://a.example/"))
        }
        texts += mails.flatMap { [$0.subject, $0.text] }
        for text in texts { #expect(!text.contains("{") && !text.contains("}"), "\(text)") }
        for word in Word.allCases {
            for name in word.placeholders { #expect(messages.text(word).contains("{\(name)}"), "\(word)") }
        }
    }

    // MARK: Other texts

    @Test func `a text replaces the built-in one, and leaves all others`() throws {
        let languages = try Self.languages(
            """
              en:
                words: {next: Onward}
                refusals:
                  required: {email: We need your address.}
                  mismatch: These differ.
                mails: {code: {text: "{code} for {service}: {request}"}}
                pages: {sign-up: Join us}
            """
        )
        let english = languages[0].messages
        #expect(languages == Language.builtIn && languages[0].nativeName == "English")
        #expect(english.text(.next) == "Onward" && english.text(.back) == "Back")
        #expect(english.message(for: Refusal("a", .required), about: .email, label: nil) == "We need your address.")
        #expect(english.message(for: Refusal("a", .required), about: .number, label: nil) == "Enter a whole number.")
        #expect(english.message(for: Refusal("a", .mismatch), about: .confirmation, label: nil) == "These differ.")
        #expect(english.signUp(serviceName: "Acme") == "Join us")
        let mail = english.text(of: .signIn, "012345", minutes: 1, link: nil, serviceName: "Acme")
        #expect(mail.text == "012345 for Acme: Enter this code to continue signing in to Acme:")
        #expect(mail.subject == "Your Acme sign-in code")
        #expect(languages[1].messages.text(.next) == "다음")
    }

    @Test func `a new language has the English texts of the file where it lacks its own`() throws {
        let file = try TextsFile(
            """
            languages:
              ar:
                name: العربية
                direction: rtl
                words: {next: التالي}
                times: {days: {one: يوم واحد, two: يومان, few: "{number} أيام", other: "{number} يومًا"}}
                refusals: {required: هذا الحقل مطلوب.}
              en: {words: {back: Return}}
            """,
            file: "texts.yaml"
        )
        #expect(file.languages.map(\.tag) == ["en", "ko", "ar"] && file.count == 4)
        let german = "languages:\n  de-1996: {name: Deutsch}"
        #expect(try TextsFile(german, file: "texts.yaml").languages.map(\.tag) == ["en", "ko", "de-1996"])
        let arabic = try #require(file.languages["ar"])
        #expect(arabic.isRightToLeft && arabic.nativeName == "العربية")
        #expect(arabic.messages.text(.next) == "التالي" && arabic.messages.text(.back) == "Return")
        // Its own text for all kinds counts more than an English one for the kind.
        let refusal = Refusal("email", .required)
        #expect(arabic.messages.message(for: refusal, about: .email, label: nil) == "هذا الحقل مطلوب.")
        let short = Refusal("email", .tooShort, ["min": 1])
        #expect(arabic.messages.message(for: short, about: .email, label: nil) == "Use at least 1 character.")
        let left = [1, 2, 7].map { days in
            arabic.messages.addressLeft(serviceName: "Acme", days: days, link: "x", code: "y").text
        }
        #expect(left[0].contains("يوم واحد") && left[1].contains("يومان") && left[2].contains("7 أيام"))
        #expect(arabic.messages.text(try #require(CivilDate(json: "2001-02-28"))) == "February 28, 2001")
        #expect(file.missing.map(\.language.tag) == ["ar"])
        let paths = Set(file.missing[0].paths)
        #expect(paths.contains("words.back") && paths.contains("refusals.required.email") && paths.contains("date"))
        #expect(paths.isDisjoint(with: ["words.next", "times.days", "refusals.required.other"]))
    }

    @Test func `a language with questions is in the built-in flow, and translates a flow that lacks it`() throws {
        let languages = try Self.languages(
            """
              de: {name: Deutsch}
              ja: {name: 日本語, questions: {Password: パスワード, Colour: 色}}
            """
        )
        let standard = try Flow.standard(among: languages)
        #expect(standard.languages.map(\.tag) == ["en", "ko", "ja"])
        let japanese = try #require(languages["ja"])
        #expect(standard.field(named: "password")?.labels[japanese] == "パスワード")
        #expect(standard.field(named: "username")?.labels[japanese] == "Username" && !standard.gaps.isEmpty)
        let own = try Flow(
            yaml: """
                flow: tea
                version: 1
                languages: [en, ja]
                steps:
                  - name: tea
                    title: {en: Tea, ja: お茶}
                    fields: [{name: colour, kind: text, label: {en: Colour}}]
                """,
            file: "flow.yaml",
            among: languages
        )
        #expect(own.steps[0].titles[japanese] == "お茶" && own.fields[0].labels[japanese] == "色")
        #expect(own.gaps.isEmpty)
    }

    @Test func `another translation makes the answers of the flow be judged again`() throws {
        let flows = try ["Terms of use", "Rules"].map { document in
            try Flow.standard(
                among: Self.languages("  ja: {name: 日本語, questions: {Terms: 規約, Password: \(document)}}")
            )
        }
        let again = try Flow.standard(
            among: Self.languages("  ja: {name: 日本語, questions: {Password: Rules, Terms: 規約}}")
        )
        #expect(flows[0].digest != flows[1].digest && flows[1].digest == again.digest)
    }

    @Test func `a date has the form of its language`() throws {
        let date = try #require(CivilDate(json: "2001-02-03"))
        let months = (1...12).map { "m\($0)" }.joined(separator: ", ")
        let languages = try Self.languages(
            """
              de: {name: Deutsch, date: "{day}. {month_name} {year}", months: [\(months)]}
              ja: {name: 日本語, date: "{year}年{month}月{day}日"}
              en: {date: "{day} {month_name} {year}"}
            """
        )
        #expect(
            languages.map { $0.messages.text(date) } == ["3 February 2001", "2001년 2월 3일", "3. m2 2001", "2001年2月3日"]
        )
    }

    // MARK: The example

    @Test func `the Japanese example is complete, and says nothing in English or Korean`() throws {
        let file = try TextsFile(contentsOf: Self.path("examples/texts/ja.yaml"))
        #expect(file.missing.map(\.language.tag) == ["ja"] && file.missing[0].paths.isEmpty)
        let flow = try Flow.standard(among: file.languages)
        #expect(flow.languages.map(\.tag) == ["en", "ko", "ja"] && flow.gaps.isEmpty)
        let japanese = try #require(file.languages["ja"]).messages
        for word in Word.allCases {
            #expect(japanese.text(word) != Language.english.messages.text(word), "\(word)")
        }
        let texts = Word.allCases.map(japanese.text) + ProblemKind.allCases.map(japanese.title)
        for text in texts {
            #expect(!text.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }, "\(text)")
        }
    }

    /// The Japanese texts are those of the example.
    @Test(arguments: [("en", "contact acme"), ("ko", "문의해 주세요"), ("ja", "お問い合わせください")])
    func `mails tell people to contact the service only with a link`(tag: String, request: String) throws {
        let languages = try TextsFile(contentsOf: Self.path("examples/texts/ja.yaml")).languages
        let messages = try #require(languages[tag]).messages
        for contact in [nil, "https://a.example/help"] {
            var mails = [
                messages.accountCreated(
                    serviceName: "Acme",
                    address: "kim@a.example",
                    link: "https://a.example/recovery",
                    contact: contact
                )
            ]
            for notice in AccountNotice.allCases {
                for hasPassword in [true, false] {
                    mails.append(
                        messages.accountChanged(
                            notice,
                            serviceName: "Acme",
                            link: "https://a.example/",
                            hasPassword: hasPassword,
                            contact: contact
                        )
                    )
                }
            }
            for mail in mails {
                #expect(mail.text.lowercased().contains(request) == (contact != nil), "\(mail.subject)")
                #expect(mail.text.hasSuffix("\n\nhttps://a.example/help") == (contact != nil), "\(mail.subject)")
            }
        }
    }

    // MARK: Mistakes

    @Test(
        arguments: [
            ("", "the file is empty or has only comments", nil), ("a", "expected a mapping", 1),
            ("languages: {}", "\"languages\" must map a language tag, such as ja, to texts", 1),
            ("text: {}", "unknown key \"text\"", 1),
            ("languages:\n  Japanese: {}", "invalid language tag \"Japanese\": use one such as ja or pt-BR", 2),
            ("languages:\n  pt-br: {name: x}", "invalid language tag \"pt-br\": use one such as ja or pt-BR", 2),
            ("languages:\n  ja: []", "expected a mapping", 2),
            ("languages:\n  ja: {}", "\"name\" is missing: the name of the language in itself, such as 日本語", 2),
            ("languages:\n  en:\n    direction: up", "\"direction\" must be one of ltr, rtl, not \"up\"", 3),
            ("languages:\n  en:\n    wrds: {}", "unknown key \"wrds\": did you mean \"words\"?", 3),
            ("languages:\n  en:\n    words:\n      nxt: A", "unknown key \"nxt\" in \"words\"", 4),
            ("languages:\n  en:\n    words: Next", "\"words\" must be a mapping of texts", 3),
            (
                "languages:\n  ko:\n    questions: Name",
                "\"questions\" must map texts of the flow to their translations", 3
            ),
            (
                "languages:\n  ko:\n    questions:\n      Name: [A]",
                "the translation of \"Name\" must be a non-empty text in one line, without control characters", 4
            ),
            (
                "languages:\n  en:\n    words:\n      next: [A]",
                "\"words.next\" must be a non-empty text in one line, without control characters", 4
            ),
            (
                "languages:\n  en:\n    words:\n      next:",
                "\"words.next\" must be a non-empty text in one line, without control characters", 4
            ),
            (
                "languages:\n  en:\n    words:\n      next: \"A\\nB\"",
                "\"words.next\" must be a non-empty text in one line, without control characters", 4
            ),
            ("languages:\n  en:\n    words: {next: A, next: B}", "\"next\" appears twice", 3),
            (
                "languages:\n  en:\n    words:\n      next: A {left}",
                "unknown placeholder {left} in \"words.next\": it has none", 4
            ),
            (
                "languages:\n  en:\n    words:\n      sendAgainIn: Soon",
                "\"words.sendAgainIn\" must have the placeholder {left}", 4
            ),
            (
                "languages:\n  en:\n    words:\n      sendAgainIn: In { left } s",
                "\"words.sendAgainIn\" must contain no braces except those of its placeholders: {left}", 4
            ),
            ("languages:\n  en:\n    words:\n      next: A}", "\"words.next\" must contain no braces", 4),
            (
                "languages:\n  en:\n    refusals:\n      too_short: {with-number: Too short}",
                "\"refusals.too_short.with-number\" must have the placeholder {min}", 4
            ),
            (
                "languages:\n  en:\n    refusals:\n      too_short: {with-range: Too short}",
                "unknown key \"with-range\" in \"refusals.too_short\"", 4
            ),
            (
                "languages:\n  ko:\n    times:\n      days: {one: a, other: '{number}'}",
                "unknown plural form \"one\" of \"times.days\": use other", 4
            ),
            (
                "languages:\n  en:\n    times:\n      days: {one: a}",
                "\"times.days\" needs the plural form \"other\", for numbers without a form of their own", 4
            ),
            (
                "languages:\n  en:\n    times:\n      days: {one: a, other: b}",
                "\"times.days\" must have the placeholder {number}", 4
            ),
            (
                "languages:\n  en:\n    mails:\n      handoff: {subject: '{code}'}",
                "unknown placeholder {code} in \"mails.handoff.subject\": it can have {service}", 4
            ),
            (
                "languages:\n  en:\n    mails:\n      code: {text: '{request}'}",
                "\"mails.code.text\" must have the placeholder {code}", 4
            ),
            ("languages:\n  en:\n    date: '{day} {year}'", "\"date\" must have the placeholder {month}", 3),
            ("languages:\n  en:\n    months: [a, b]", "\"months\" must be a list of 12 names", 3),
            (
                "languages:\n  ko:\n    date: '{month_name} {day} {year}'",
                "\"months\" is missing, but \"date\" has {month_name}", 3
            ),
        ] as [(String, String, Int?)]
    )
    func `a mistake is reported with its line`(yaml: String, reason: String, line: Int?) throws {
        let error = #expect(throws: TextsFileError.self) { try TextsFile(yaml, file: "texts.yaml") }
        #expect(error?.mistakes.first?.reason == reason && error?.mistakes.first?.line == line)
    }

    @Test func `all mistakes are reported together, in the order of their lines`() throws {
        let yaml = """
            languages:
              en:
                words:
                  next: A {b}
                  nxt: B
              ja:
                refusals: {mismatch: []}
            """
        let error = #expect(throws: TextsFileError.self) { try TextsFile(yaml, file: "texts.yaml") }
        #expect(
            error?.description == """
                texts.yaml:4: unknown placeholder {b} in "words.next": it has none
                texts.yaml:5: unknown key "nxt" in "words"
                texts.yaml:6: "name" is missing: the name of the language in itself, such as 日本語
                texts.yaml:7: "refusals.mismatch" must be a text or a mapping of texts
                """
        )
        let unreadable = #expect(throws: TextsFileError.self) { try TextsFile(contentsOf: "/nowhere/texts.yaml") }
        #expect(unreadable?.description == "/nowhere/texts.yaml: cannot read the file: No such file or directory")
    }

    @Test func `a file that is not UTF-8 text is refused for that reason`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "texts-\(UUID()).yaml")
        try Data([0x61, 0xFF]).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let error = #expect(throws: TextsFileError.self) { try TextsFile(contentsOf: file.path) }
        #expect(error?.description == "\(file.path): the file is not UTF-8 text")
    }

    @Test func `a file over 1 MiB is too large, even if the first MiB ends within a character`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "texts-\(UUID()).yaml")
        try Data(String(repeating: "ä", count: 1 << 20).utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let error = #expect(throws: TextsFileError.self) { try TextsFile(contentsOf: file.path) }
        #expect(error?.description == "\(file.path): the file is larger than 1 MiB")
    }
}
