import Testing

@testable import Accounts

@Suite("Messages")
struct MessagesTests {
    /// The message without a topic and a label.
    private static func message(for refusal: Refusal, in language: Language) -> String {
        language.messages.message(for: refusal, about: .other, label: nil)
    }

    @Test(arguments: Refusal.Code.allCases)
    func `every refusal code has a distinct message in every language`(code: Refusal.Code) {
        for language in Language.builtIn {
            let message = Self.message(for: Refusal("field", code), in: language)
            let others = Refusal.Code.allCases.filter { $0 != code }
            #expect(message.hasSuffix("."))
            #expect(!others.contains { Self.message(for: Refusal("field", $0), in: language) == message })
        }
    }

    @Test(
        arguments: [
            (.tooShort, ["min": 15, "actual": 9], "Use at least 15 characters.", "15자 이상 입력해 주세요."),
            (.tooShort, ["min": 1], "Use at least 1 character.", "1자 이상 입력해 주세요."),
            (.tooLong, ["max": 50], "Use at most 50 characters.", "50자 이하로 입력해 주세요."),
            (.tooLong, [:], "Use fewer characters.", "더 짧게 입력해 주세요."),
            (.tooYoung, ["min": 14], "You need to be at least 14 years old.", "만 14세 이상만 이용할 수 있습니다."),
            (
                .codeWrong, ["attempts_left": 4],
                "That code isn't right. You have 4 attempts left.",
                "코드가 올바르지 않습니다. 4번 더 시도할 수 있습니다."
            ),
            (
                .codeWrong, ["attempts_left": 1],
                "That code isn't right. You have 1 attempt left.",
                "코드가 올바르지 않습니다. 1번 더 시도할 수 있습니다."
            ),
            (
                .notAllowed, ["min": -1, "max": 9], "Enter a whole number from -1 to 9.",
                "-1 이상 9 이하의 정수를 입력해 주세요."
            ),
            (
                .codeWrong, ["attempts_left": 0], "Too many incorrect codes. Get a new code.",
                "인증 코드 입력 횟수를 초과했습니다. 새 인증 코드를 받아 주세요."
            ),
            (.codeWrong, ["attempts_left": "four"], "That code isn't right.", "코드가 올바르지 않습니다."),
        ] as [(Refusal.Code, [String: JSON], String, String)]
    )
    func `messages contain the parameters of a refusal`(
        code: Refusal.Code,
        params: [String: JSON],
        english: String,
        korean: String
    ) {
        let refusal = Refusal("field", code, params)
        #expect(Self.message(for: refusal, in: .english) == english)
        #expect(Self.message(for: refusal, in: .korean) == korean)
    }

    @Test(
        arguments: [
            ("email", .required, "Enter your email address.", "이메일 주소를 입력해 주세요."),
            (
                "email", .badFormat, "Enter an email address like name@example.com.",
                "이메일 주소 형식이 올바르지 않습니다. (예: name@example.com)"
            ),
            (
                "phone", .badFormat, "Enter a full phone number, like 010-1234-5678 or +1 201-555-0123.",
                "전화번호 형식이 올바르지 않습니다. (예: 010-1234-5678 또는 +1 201-555-0123)"
            ),
            (
                "birth_date", .required, "Enter the full date, such as February 28, 2001.",
                "연월일을 모두 입력해 주세요. (예: 2001년 2월 28일)"
            ),
            (
                "birth_date", .badFormat, "Enter a date like 2001-02-28.", "날짜 형식이 올바르지 않습니다. (예: 2001-02-28)"
            ),
            (
                "username", .taken, "That username is taken. Choose another one.",
                "이미 사용 중인 아이디입니다. 다른 아이디를 입력해 주세요."
            ),
            (
                "username", .badCharacters, "Use only letters from A to Z, digits, periods, hyphens and underscores.",
                "영문자, 숫자, . - _ 기호만 입력해 주세요."
            ),
            ("confirmation", .mismatch, "The passwords don't match.", "비밀번호가 일치하지 않습니다."),
            ("code", .required, "Enter the code.", "코드를 입력해 주세요."),
            ("terms", .required, "Check this box to continue.", "계속하려면 동의해 주세요."),
            ("terms", .notAccepted, "Check this box to continue.", "계속하려면 동의해 주세요."),
            ("display_name", .required, "This field is required: Display name", "필수 항목입니다: 닉네임"),
            // These are members of requests that do not submit a step.
            (
                "identifier", .required, "Enter your email address or username.", "이메일 주소 또는 아이디를 입력해 주세요."
            ),
            (
                "ticket", .codeExpired, "This link has expired or has already been used.", "만료되었거나 이미 사용한 링크입니다."
            ),
            ("recovery_code", .badFormat, "Enter the whole code.", "코드를 빠짐없이 입력해 주세요."),
            ("transport", .required, "This field is required.", "필수 항목입니다."),
        ] as [(FieldName, Refusal.Code, String, String)]
    )
    func `the text of a message depends on its field`(
        field: FieldName,
        code: Refusal.Code,
        english: String,
        korean: String
    ) throws {
        let flow = try Flow.standard()
        #expect(Refusal(field, code).message(in: .english, of: flow) == english)
        #expect(Refusal(field, code).message(in: .korean, of: flow) == korean)
    }

    @Test(arguments: Language.builtIn)
    func `the date in the message about a missing one is written as the pages write it`(language: Language) throws {
        let day = try #require(CivilDate(json: "2001-02-28"))
        let message = language.messages.message(for: Refusal("field", .required), about: .date, label: nil)
        #expect(message.contains(language.messages.text(day)))
    }

    @Test func `the message about a number with decimals asks for a whole one`() {
        let refusal = Refusal("field", .wrongType, ["expected": "integer"])
        let messages = Language.builtIn.map { $0.messages.message(for: refusal, about: .number, label: nil) }
        #expect(messages == ["Enter a whole number.", "정수를 입력해 주세요."])
    }

    @Test(arguments: Language.builtIn, RefusalTopic.allCases)
    func `every topic has a message for every refusal`(language: Language, topic: RefusalTopic) {
        for code in Refusal.Code.allCases {
            let message = language.messages.message(for: Refusal("field", code), about: topic, label: nil)
            #expect(!message.isEmpty && !message.contains("nil"))
        }
    }

    @Test func `every kind except text has its own topic of messages`() {
        #expect(KindList.names.filter { RefusalTopic(rawValue: $0) == nil } == [TextField.name])
        #expect(RefusalTopic(rawValue: SecondFactorField.name) != nil)
    }

    @Test(
        arguments: [
            (0, "1 second", "1초"), (1, "1 second", "1초"), (59, "59 seconds", "59초"), (60, "1 minute", "1분"),
            (61, "2 minutes", "2분"), (240, "4 minutes", "4분"), (3540, "59 minutes", "59분"), (3541, "1 hour", "1시간"),
            (3600, "1 hour", "1시간"), (3601, "2 hours", "2시간"), (86_400, "24 hours", "24시간"),
        ]
    )
    func `the message after too many requests says how long to wait`(seconds: Int, english: String, korean: String) {
        let wait = RoundedWait(seconds: seconds)
        #expect(Language.english.messages.tooOften(wait) == "Too many attempts. Try again in \(english).")
        #expect(Language.korean.messages.tooOften(wait) == "요청이 너무 많습니다. \(korean) 후에 다시 시도해 주세요.")
    }

    @Test func `Korean texts use only the polite forms 주세요 and 마세요`() {
        let korean = Language.korean.messages
        let mails = CodeMail.allCases.map {
            korean.text(of: $0, "012345", minutes: 1, link: "x", serviceName: "Accounts")
        }
        let texts =
            Word.allCases.map { korean.text($0) } + ProblemKind.allCases.map { korean.title(of: $0) }
            + Refusal.Code.allCases.flatMap { code in
                RefusalTopic.allCases.map { korean.message(for: Refusal("field", code), about: $0, label: nil) }
            } + mails.map(\.text)
        for text in texts {
            let requests = text.replacing("안녕하세요", with: "").matches(of: /(.)세요/).map { String($0.1) }
            #expect(Set(requests).isSubset(of: ["주", "마"]), "\(text)")
        }
    }

    @Test(arguments: ProblemKind.allCases)
    func `every problem has a distinct title in every language`(problem: ProblemKind) {
        let titles = Language.builtIn.map { $0.messages.title(of: problem) }
        #expect(Set(titles).count == Language.builtIn.count && !titles.contains(""))
        for language in Language.builtIn {
            let others = ProblemKind.allCases.filter { $0 != problem }.map { language.messages.title(of: $0) }
            #expect(!others.contains(language.messages.title(of: problem)))
        }
    }

    @Test(arguments: Language.builtIn, CodeMail.allCases)
    func `the code is on a line of its own and not in the subject`(language: Language, mail: CodeMail) {
        let link = "https://example.com/ticket?ticket=AAAA"
        let text = language.messages.text(of: mail, "012345", minutes: 10, link: link, serviceName: "Accounts")
        #expect(text.text.hasSuffix("\n\n\(link)"), "the link comes after the code, on a line of its own")
        #expect(!text.subject.contains("://"))
        #expect(text.text.split(separator: "\n").contains("012345"))
        #expect(text.text.contains("10"))
        #expect(!text.subject.contains("012345"))
        let subjects = CodeMail.allCases.map {
            language.messages.text(of: $0, "012345", minutes: 10, link: link, serviceName: "Accounts").subject
        }
        #expect(Set(subjects).count == subjects.count)
    }

    @Test(arguments: Language.builtIn)
    func `every mail names the service, and contains no link unless one is passed`(language: Language) {
        let mails = CodeMail.allCases.map {
            language.messages.text(of: $0, "012345", minutes: 1, link: nil, serviceName: "Accounts")
        }
        for mail in mails {
            #expect(mail.subject.contains("Accounts"))
            #expect(mail.text.contains("Accounts"))
            #expect(!mail.text.contains("://"))
        }
        let (address, link) = ("person@example.com", "https://example.com/recovery")
        let welcome = language.messages.accountCreated(serviceName: "Accounts", address: address, link: link)
        let lines = welcome.text.split(separator: "\n")
        #expect(lines.contains { $0 == address } && lines.contains { $0 == link } && welcome.text.contains("Accounts"))
    }

    @Test(arguments: Language.builtIn, AccountNotice.allCases)
    func `the mail about a change has a link that helps, unless there is no account, and the contact`(
        language: Language,
        notice: AccountNotice
    ) {
        let (link, contact) = ("https://example.com/recovery", "https://example.com/help")
        let mail = language.messages.accountChanged(notice, serviceName: "Accounts", link: link, contact: contact)
        #expect(mail.subject.contains("Accounts") && !mail.subject.contains("://"))
        #expect(mail.text.contains("\n\n\(link)\n") == notice.hasLink)
        #expect(mail.text.hasSuffix("\n\n\(contact)"))
        let lone = language.messages.accountChanged(notice, serviceName: "Accounts", link: link, hasPassword: false)
        let isSame = notice.hasOwnText && !notice.namesPassword || notice.locksOut
        let plain = language.messages.accountChanged(notice, serviceName: "Accounts", link: link)
        #expect((lone.text == plain.text) == isSame && mail.text.hasPrefix(plain.text))
        #expect("\(lone.text)\n".contains("\n\n\(link)\n") == notice.hasLink)
        let subjects = AccountNotice.allCases.map {
            language.messages.accountChanged($0, serviceName: "Accounts", link: link).subject
        }
        #expect(Set(subjects).count == subjects.count)
    }

    @Test(arguments: Language.builtIn, [true, false])
    func `the mail to an earlier address asks for a new password only if accounts have one`(
        language: Language,
        hasPassword: Bool
    ) {
        let link = "https://example.com/undo#token=AAAA"
        let mail = language.messages.addressLeft(
            serviceName: "Accounts",
            days: 7,
            link: link,
            code: "AAAA",
            hasPassword: hasPassword
        )
        #expect(mail.text.contains("\n\n\(link)\n\n") && mail.text.hasSuffix("\n\nAAAA"))
        #expect(mail.text.contains(language == .english ? "new password" : "새 비밀번호") == hasPassword)
    }

    @Test(
        arguments: Language.builtIn,
        [
            Word.undoTextWithoutPassword, .undoDoneTextWithoutPassword, .undoOverWithoutPassword, .authenticatorMeaning,
        ]
    )
    func `the words for flows without passwords mention none`(language: Language, word: Word) {
        let text = language.messages.text(word)
        #expect(!text.contains("password") && !text.contains("비밀번호"))
    }

    @Test(arguments: Language.builtIn)
    func `the mail about an existing account links to the sign-in, and contains no digits`(language: Language) {
        let link = "https://example.com/sign-in"
        let mail = language.messages.alreadyRegistered(serviceName: "Accounts", link: link)
        #expect(mail.text.split(separator: "\n").contains { $0 == link } && mail.subject.contains("Accounts"))
        #expect(!(mail.subject + mail.text).contains { $0.isNumber })
    }
}

extension MessagesTests {
    @Test(
        arguments: [
            ("en", "Personal details", "Change personal details"), ("en", "VAT number", "Change VAT number"),
            ("ko", "개인정보", "개인정보 변경"),
        ]
    )
    func `a link to a change names its title as a part of the sentence`(tag: String, title: String, link: String) {
        let language = tag == "en" ? Language.english : Language.korean
        #expect(language.messages.change(of: title) == link)
    }
}
