import Testing

@testable import Accounts

@Suite("Messages")
struct MessagesTests {
    @Test(arguments: Refusal.Code.allCases)
    func `every refusal code has a distinct message in every language`(code: Refusal.Code) {
        for language in Language.allCases {
            let message = language.messages.message(for: Refusal("field", code))
            let others = Refusal.Code.allCases.filter { $0 != code }
            #expect(message.hasSuffix("."))
            #expect(!others.contains { language.messages.message(for: Refusal("field", $0)) == message })
        }
    }

    @Test(
        arguments: [
            (.tooShort, ["min": 15, "actual": 9], "Use at least 15 characters.", "15자 이상 입력하세요."),
            (.tooShort, ["min": 1], "Use at least 1 character.", "1자 이상 입력하세요."),
            (.tooLong, ["max": 50], "Use at most 50 characters.", "50자 이하로 입력하세요."),
            (.tooLong, [:], "Use fewer characters.", "더 짧게 입력하세요."),
            (.tooYoung, ["min": 14], "You need to be at least 14 years old.", "만 14세 이상이어야 합니다."),
            (
                .codeWrong, ["attempts_left": 4], "That code is not right. You have 4 attempts left.",
                "코드가 맞지 않습니다. 4번 더 시도할 수 있습니다."
            ),
            (
                .codeWrong, ["attempts_left": 1], "That code is not right. You have 1 attempt left.",
                "코드가 맞지 않습니다. 1번 더 시도할 수 있습니다."
            ),
            (
                .notAllowed, ["min": -1, "max": 9], "Use a whole number from -1 to 9.",
                "-1 이상 9 이하의 정수를 입력하세요."
            ),
            (.codeWrong, ["attempts_left": "four"], "That code is not right.", "코드가 맞지 않습니다."),
        ] as [(Refusal.Code, [String: JSON], String, String)]
    )
    func `messages contain the parameters of a refusal`(
        code: Refusal.Code,
        params: [String: JSON],
        english: String,
        korean: String
    ) {
        let refusal = Refusal("field", code, params)
        #expect(Language.english.messages.message(for: refusal) == english)
        #expect(Language.korean.messages.message(for: refusal) == korean)
    }

    @Test(arguments: ProblemKind.allCases)
    func `every problem has a distinct title in every language`(problem: ProblemKind) {
        let titles = Language.allCases.map { $0.messages.title(of: problem) }
        #expect(Set(titles).count == Language.allCases.count && !titles.contains(""))
        for language in Language.allCases {
            let others = ProblemKind.allCases.filter { $0 != problem }.map { language.messages.title(of: $0) }
            #expect(!others.contains(language.messages.title(of: problem)))
        }
    }

    @Test(arguments: Language.allCases, CodeMail.allCases)
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

    @Test(arguments: Language.allCases)
    func `every mail names the service, and contains no other link`(language: Language) {
        let mails =
            [language.messages.accountCreated(serviceName: "Accounts", address: "person@example.com")]
            + CodeMail.allCases.map {
                language.messages.text(of: $0, "012345", minutes: 1, link: nil, serviceName: "Accounts")
            }
        for mail in mails {
            #expect(mail.subject.contains("Accounts"))
            #expect(mail.text.contains("Accounts"))
            #expect(!mail.text.contains("://"))
        }
        #expect(mails[0].text.split(separator: "\n").contains("person@example.com"))
    }

    @Test(arguments: Language.allCases, AccountNotice.allCases)
    func `the mail about a change links to the account, unless it is erased`(
        language: Language,
        notice: AccountNotice
    ) {
        let link = "https://example.com/account"
        let mail = language.messages.accountChanged(notice, serviceName: "Accounts", link: link)
        #expect(mail.subject.contains("Accounts") && !mail.subject.contains("://"))
        #expect(mail.text.contains("\n\n\(link)") == (notice != .accountErased))
        let subjects = AccountNotice.allCases.map {
            language.messages.accountChanged($0, serviceName: "Accounts", link: link).subject
        }
        #expect(Set(subjects).count == subjects.count)
    }

    @Test(arguments: Language.allCases)
    func `the mail about an existing account links to the sign-in, and contains no digits`(language: Language) {
        let link = "https://example.com/sign-in"
        let mail = language.messages.alreadyRegistered(serviceName: "Accounts", link: link)
        #expect(mail.text.split(separator: "\n").contains { $0 == link } && mail.subject.contains("Accounts"))
        #expect(!(mail.subject + mail.text).contains { $0.isNumber })
    }
}
