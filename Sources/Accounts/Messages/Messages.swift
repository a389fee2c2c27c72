/// All texts for people in one language. A new language is a type that conforms; the compiler lists the missing texts.
package protocol Messages: Sendable {
    /// The message about a refused field. Contains the numbers of `refusal.params`: `min` and `max` (characters; for
    /// dates years of age), `digits` and `attempts_left`. A number that is missing there is left out.
    ///
    /// - Parameters:
    ///   - topic: what the message names, and shows an example of.
    ///   - label: the label of the field; nil if the refused member is no field.
    func message(for refusal: Refusal, about topic: RefusalTopic, label: String?) -> String

    /// The message after too many requests.
    func tooOften(_ wait: RoundedWait) -> String

    /// The title of a problem type.
    func title(of problem: ProblemKind) -> String

    /// The mail with a code. The code is only in the text, because notifications show the subject. The link to another
    /// code is on a separate line at the end; nil for none.
    func text(of mail: CodeMail, _ code: String, minutes: Int, link: String?, serviceName: String) -> MailText

    /// The mail with the link that moves a sign-up to another device. The link is on a separate line.
    func handoff(_ link: String, code: String, minutes: Int, serviceName: String) -> MailText

    /// A text of the pages.
    func text(_ word: Word) -> String

    /// The title of the first page.
    func signUp(serviceName: String) -> String

    /// The button that leads to an application, by its name.
    func continueTo(_ application: String) -> String

    /// A date as people write it.
    func text(_ day: CivilDate) -> String

    /// The page that the link of ``handoff(_:code:minutes:serviceName:)`` leads to. The name in the address is masked.
    func resume(_ address: String, serviceName: String) -> PageText

    /// The same page for a link that has expired or was used.
    func linkExpired(serviceName: String) -> PageText

    /// The page that the link of ``text(of:_:minutes:link:serviceName:)`` opens. The address is masked.
    func ticket(_ address: String, for purpose: FlowPurpose, serviceName: String) -> PageText

    /// The same page for a link that has expired or was used.
    func ticketExpired(serviceName: String) -> PageText

    /// The mail to the owner of an account after a sign-up with the address of the account. The link leads to the page for
    /// signing in.
    func alreadyRegistered(serviceName: String, link: String) -> MailText

    /// The mail about a change of an account. The link leads to the page of the account.
    func accountChanged(_ notice: AccountNotice, serviceName: String, link: String) -> MailText

    /// The mail to the address that an account has left. The link restores it, on a separate line.
    func addressLeft(serviceName: String, days: Int, link: String) -> MailText

    /// The mail that welcomes the owner of a new account. Shows `address` unchanged.
    func accountCreated(serviceName: String, address: String) -> MailText
}

/// The subject and text of a mail. Lines end in `\n`.
package struct MailText: Hashable, Sendable {
    package let subject: String
    package let text: String

    package init(subject: String, text: String) {
        self.subject = subject
        self.text = text
    }
}

/// The texts of a page with one question.
package struct PageText: Hashable, Sendable {
    package let title: String
    package let text: String
    /// Nil if the page has no button.
    package let button: String?
}

extension Messages {
    /// The message about a refused answer of which only the field is known.
    func message(for refusal: Refusal) -> String { message(for: refusal, about: .other, label: nil) }
}

extension Language {
    /// The texts in this language.
    package var messages: any Messages {
        switch self {
        case .english: English()
        case .korean: Korean()
        }
    }
}

extension Refusal {
    /// The number with this name in the parameters of the refusal; nil if there is none.
    func number(_ name: String) -> Int? {
        guard case .integer(let number) = params[name] else { return nil }
        return number
    }
}
