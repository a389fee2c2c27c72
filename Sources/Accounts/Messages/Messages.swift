/// What the service says to a person in one language. A new language conforms, and the compiler asks for all of it.
package protocol Messages: Sendable {
    /// What to tell the person about a refused field, with the numbers of `refusal.params` filled in: `min` and `max`
    /// (characters; years of age for dates) and `attempts_left`. A missing number is left out.
    func message(for refusal: Refusal) -> String

    /// The title of a problem, the same for each of its kind.
    func title(of problem: ProblemKind) -> String

    /// The mail with a code that proves an address. The code stands in the text only: subjects show in notifications.
    func verificationCode(_ code: String, minutes: Int, serviceName: String) -> MailText

    /// The mail with the link with which a sign-up goes on on another device. The link stands on a line of its own.
    func handoff(_ link: String, minutes: Int, serviceName: String) -> MailText

    /// A text of the pages.
    func text(_ word: Word) -> String

    /// The title of the first page.
    func signUp(serviceName: String) -> String

    /// A day as people write it.
    func text(_ day: CivilDate) -> String

    /// The page to which that link leads. The address is masked.
    func resume(_ address: String, serviceName: String) -> PageText

    /// The same page for a link that opens nothing any more.
    func linkExpired(serviceName: String) -> PageText

    /// The mail to the owner of an account with whose address somebody tried to sign up.
    func alreadyRegistered(serviceName: String) -> MailText

    /// The mail that welcomes the owner of a new account. `address` is shown as given.
    func accountCreated(serviceName: String, address: String) -> MailText
}

/// The words of a mail, in plain text with lines ended by `\n`.
package struct MailText: Hashable, Sendable {
    package let subject: String
    package let text: String

    package init(subject: String, text: String) {
        self.subject = subject
        self.text = text
    }
}

/// The words of a page that asks one thing.
package struct PageText: Hashable, Sendable {
    package let title: String
    package let text: String
    /// Nil where there is nothing to do.
    package let button: String?
}

extension Language {
    /// What the service says in this language.
    package var messages: any Messages {
        switch self {
        case .english: English()
        case .korean: Korean()
        }
    }
}

extension Refusal {
    /// A number for the message, nil where the refusal carries none of that name.
    func number(_ name: String) -> Int? {
        guard case .integer(let number) = params[name] else { return nil }
        return number
    }
}
