/// The texts for people in one language, except those of the flow. Texts that the language does not have are in
/// English.
package final class Messages: Sendable {
    /// The text of each ``Word``. The index is ``Word/rawValue``.
    private let words: [String]
    /// The texts of the language itself by their paths, such as `pages.sign-up`.
    private let texts: [String: TextTemplate]
    private let months: [String]
    private let plurals: PluralRule
    private let isEnglish: Bool
    /// The English texts; nil for English itself.
    private let fallback: Messages?

    init(_ language: LanguageTexts, fallback: Messages?) {
        self.fallback = fallback
        plurals = PluralRule(tag: language.tag)
        isEnglish = language.tag.prefix { $0 != "-" } == "en"
        texts = language.texts
        months = language.months ?? fallback?.months ?? []
        words = Word.allCases.map { word in
            let own = language.texts["words.\(word.name)"]?.source
            return own ?? fallback?.text(word) ?? Self.missing("words.\(word.name)")
        }
    }

    /// Ends the process. This never happens, because a test checks that English has every text.
    private static func missing(_ path: String) -> String { preconditionFailure("English has no text for \(path)") }

    /// - Parameter count: the number that decides between plural forms.
    private func text(_ path: String, _ values: [String: String] = [:], count: Int? = nil) -> String {
        guard let template = texts[path] else {
            return fallback?.text(path, values, count: count) ?? Self.missing(path)
        }
        return template.filled(values, as: count.map(plurals.form) ?? .other)
    }
}

// MARK: - Pages

extension Messages {
    /// A text of the pages.
    package func text(_ word: Word) -> String { words[word.rawValue] }

    /// The title of a problem type.
    package func title(of problem: ProblemKind) -> String { text("problems.\(problem.rawValue)") }

    /// The text below the title of the first step of a sign-up.
    package func signUp(serviceName: String) -> String { text("pages.sign-up", ["service": serviceName]) }

    /// The text of the button that leads to the application with this name.
    package func continueTo(_ application: String) -> String {
        text("pages.continue-to", ["application": application])
    }

    /// The question with which account the person wants to use the application.
    package func chooseAccount(for application: String) -> String {
        text("pages.choose-account", ["application": application])
    }

    /// The message after too many requests.
    package func tooOften(_ wait: RoundedWait) -> String { text("pages.too-often", ["time": time(wait)]) }

    /// The message after too many codes of the authenticator app in a recovery. A recovery code needs no wait.
    package func tooManyAppCodes(_ wait: RoundedWait) -> String {
        text("pages.too-many-app-codes", ["time": time(wait)])
    }

    /// The text about the lifetime of a mailed code, for browsers without script.
    package func codeLifetime(seconds: Int) -> String {
        text("pages.code-lifetime", ["time": time(RoundedWait(seconds: seconds))])
    }

    /// The message if the person wants to change the address again or to erase the account within a day after a change
    /// of the address. It says how long the person must wait.
    package func addressPause(_ wait: RoundedWait) -> String { text("pages.address-pause", ["time": time(wait)]) }

    /// The text of the link to a page that changes a step, such as "Change profile".
    ///
    /// - Parameter title: the title of the step. In English, the function makes its first letter small, unless the
    ///   title begins with an acronym.
    package func change(of title: String) -> String {
        let isAcronym = title.dropFirst().first?.isUppercase == true
        let what = isEnglish && !isAcronym ? title.prefix(1).lowercased() + title.dropFirst() : title
        return text(.changeOf).replacing("{what}", with: what)
    }

    /// The text of the control that opens the document of a consent, such as "Read more: Terms of use".
    ///
    /// - Parameter label: the short label of the consent.
    package func readText(of label: String) -> String { text(.readText).replacing("{what}", with: label) }

    private func time(_ wait: RoundedWait) -> String {
        switch wait {
        case .seconds(let number): time(number, "seconds")
        case .minutes(let number): time(number, "minutes")
        case .hours(let number): time(number, "hours")
        }
    }

    private func time(_ number: Int, _ unit: String) -> String {
        text("times.\(unit)", ["number": "\(number)"], count: number)
    }

    /// A date as people write it.
    package func text(_ day: CivilDate) -> String {
        var values = ["year": "\(day.year)", "month": "\(day.month)", "day": "\(day.day)"]
        if months.count == 12 { values["month_name"] = months[day.month - 1] }
        return text("date", values)
    }

    /// The page that the link of ``handoff(_:code:minutes:serviceName:)`` leads to.
    ///
    /// - Parameter address: the address that the page shows. The caller has masked its local part.
    package func resume(_ address: String, serviceName: String) -> PageText {
        page("resume", "text", ["address": address, "service": serviceName], hasButton: true)
    }

    /// The page that replaces ``resume(_:serviceName:)`` if the link has expired or was used.
    package func linkExpired(serviceName: String) -> PageText {
        page("link-expired", "text", ["service": serviceName], hasButton: false)
    }

    /// The page that the link in the mail with a code (``text(of:_:minutes:link:serviceName:)``) opens in a sign-up or
    /// a recovery.
    ///
    /// - Parameter address: the address that the page shows. The caller has masked its local part.
    package func ticket(_ address: String, for purpose: FlowPurpose, serviceName: String) -> PageText {
        let values = ["address": address, "service": serviceName]
        return page("ticket", purpose == .signup ? "sign-up" : "recovery", values, hasButton: true)
    }

    /// The page that replaces ``ticket(_:for:serviceName:)`` if the link has expired or was used.
    package func ticketExpired(serviceName: String) -> PageText {
        page("ticket-expired", "text", ["service": serviceName], hasButton: false)
    }

    /// The text that names the service as the contact for a person who has lost every second factor.
    package func lostFactor(serviceName: String) -> String { text("pages.lost-factor", ["service": serviceName]) }

    private func page(_ name: String, _ part: String, _ values: [String: String], hasButton: Bool) -> PageText {
        PageText(
            title: text("pages.\(name).title", values),
            text: text("pages.\(name).\(part)", values),
            button: hasButton ? text("pages.\(name).button") : nil
        )
    }
}

// MARK: - Mails

/// The parameter `contact` of a mail is the URL at which people get help; nil if there is none.
extension Messages {
    /// The mail with a code. The subject does not contain the code, because notifications show the subject. The link to
    /// another code is on a separate line at the end. If `link` is nil, the mail has no link.
    package func text(
        of mail: CodeMail,
        _ code: String,
        minutes: Int,
        link: String?,
        serviceName: String
    ) -> MailText {
        let service = ["service": serviceName]
        let values = [
            "service": serviceName, "code": code, "time": time(minutes, "minutes"),
            "request": text("mails.\(mail.rawValue).request", service),
            "assurance": text("mails.\(mail.rawValue).assurance", service),
        ]
        let newCode = link.map { "\n\n" + text("mails.code.new-code", ["link": $0, "service": serviceName]) } ?? ""
        return MailText(
            subject: text("mails.\(mail.rawValue).subject", service),
            text: text("mails.code.text", values) + newCode
        )
    }

    /// The mail that replaces a mail with a code, if the code has expired before the delivery. The link to another code
    /// is on a separate line.
    package func late(_ mail: CodeMail, link: String, serviceName: String) -> MailText {
        let service = ["service": serviceName]
        let values = [
            "service": serviceName, "link": link, "assurance": text("mails.\(mail.rawValue).assurance", service),
        ]
        return MailText(
            subject: text("mails.\(mail.rawValue).subject", service),
            text: text("mails.code.late", values)
        )
    }

    /// The mail with the link that moves a sign-up to another device. `code` is the secret in the link. The link and
    /// the code are on separate lines.
    package func handoff(_ link: String, code: String, minutes: Int, serviceName: String) -> MailText {
        let values = ["link": link, "code": code, "time": time(minutes, "minutes"), "service": serviceName]
        return mail("handoff", values)
    }

    /// The mail to the owner of an account after somebody has entered the address of the account in a sign-up. The link
    /// leads to the page for signing in.
    package func alreadyRegistered(serviceName: String, link: String) -> MailText {
        mail(FlowPurpose.signup.templateWithoutCode, ["link": link, "service": serviceName])
    }

    /// The mail to the owner of an account after somebody wanted to move another account to the address of this
    /// account. The link leads to the page for signing in.
    package func addressInUse(serviceName: String, link: String) -> MailText {
        mail(FlowPurpose.emailChange.templateWithoutCode, ["link": link, "service": serviceName])
    }

    /// The mail with a notice about an account.
    ///
    /// - Parameters:
    ///   - link: the URL of the recovery, or of the account if `hasPassword` is false.
    ///   - hasPassword: whether people can sign in with a password, and reset it.
    package func accountChanged(
        _ notice: AccountNotice,
        serviceName: String,
        link: String,
        hasPassword: Bool = true,
        contact: String? = nil
    ) -> MailText {
        if notice.hasOwnText {
            let part = notice.namesPassword && !hasPassword ? "without-password" : "text"
            return mail(notice.rawValue, ["link": link, "service": serviceName], contact, part: part)
        }
        let change = text("mails.\(notice.rawValue).change", ["service": serviceName])
        let values = ["change": change, "link": link, "service": serviceName]
        let part = notice.locksOut ? "locked-out" : hasPassword ? "text" : "without-password"
        let advice = notice.hasAdvice ? "\n\n" + text("mails.\(notice.rawValue).advice", values) : ""
        return MailText(
            subject: text("mails.\(notice.rawValue).subject", ["service": serviceName]),
            text: text("mails.notice.\(part)", values) + advice + help(contact, serviceName)
        )
    }

    /// The mail to the address that an account has left. The link restores this address, and `code` is the secret in
    /// the link. The link and the code are on separate lines.
    ///
    /// - Parameter hasPassword: whether people can sign in with a password, and reset it.
    package func addressLeft(
        serviceName: String,
        days: Int,
        link: String,
        code: String,
        hasPassword: Bool = true
    ) -> MailText {
        let values = ["link": link, "code": code, "time": time(days, "days"), "service": serviceName]
        return mail("address-left", values, part: hasPassword ? "text" : "without-password")
    }

    /// The mail that welcomes the owner of a new account. It shows `address` unmasked.
    package func accountCreated(
        serviceName: String,
        address: String,
        link: String,
        contact: String? = nil
    ) -> MailText {
        mail("account-created", ["address": address, "link": link, "service": serviceName], contact)
    }

    private func mail(
        _ name: String,
        _ values: [String: String],
        _ contact: String? = nil,
        part: String = "text"
    ) -> MailText {
        let serviceName = values["service"] ?? ""
        return MailText(
            subject: text("mails.\(name).subject", ["service": serviceName]),
            text: text("mails.\(name).\(part)", values) + help(contact, serviceName)
        )
    }

    /// The paragraphs at the end of a mail that say how to contact the service; empty without a contact.
    private func help(_ contact: String?, _ serviceName: String) -> String {
        contact.map { "\n\n" + text("mails.help", ["link": $0, "service": serviceName]) } ?? ""
    }
}

// MARK: - Refusals

extension Messages {
    /// The message about a refused field. It may show these members of `refusal.params`: `min` and `max` (numbers of
    /// characters, years of age, or bounds of a number), `digits`, `attempts_left` and `example`. If a member is
    /// missing, the message is a text that does not need it.
    ///
    /// - Parameters:
    ///   - topic: selects the text, which names the topic and may show an example.
    ///   - label: the label of the field; nil if the refused member is no field.
    package func message(for refusal: Refusal, about topic: RefusalTopic, label: String?) -> String {
        var values: [String: String] = [:]
        for name in ["min", "max", "digits", "attempts_left"] {
            if let number = refusal.number(name) { values[name] = "\(number)" }
        }
        values["label"] = label
        var variants = topic.names
        var count: Int?
        func prefer(_ variant: RefusalVariant, counting number: Int? = nil) {
            variants.insert(variant.rawValue, at: 0)
            count = number
        }
        switch refusal.code {
        case .required: if label != nil { variants.append(RefusalVariant.labelled.rawValue) }
        case .tooShort, .tooYoung: if let min = refusal.number("min") { prefer(.withNumber, counting: min) }
        case .tooLong: if let max = refusal.number("max") { prefer(.withNumber, counting: max) }
        case .badFormat:
            if let digits = refusal.number("digits"), topic == .code || topic == .authenticator {
                prefer(.withDigits, counting: digits)
            }
            if let example = refusal.params["example"]?.string {
                values["example"] = example
                prefer(.withExample)
            }
        case .notAllowed: if values["min"] != nil, values["max"] != nil { prefer(.withRange) }
        case .codeWrong:
            switch refusal.number("attempts_left") {
            case 0: prefer(.noAttempts)
            case let left?: prefer(.withAttempts, counting: left)
            case nil: break
            }
        case .codeExhausted:
            if refusal.params["new_secret"] == true { prefer(.newSecret) }
            if refusal.params["final"] == true { prefer(.final) }
        default: break
        }
        return message(refusal.code, variants + [RefusalTopic.other.rawValue], values, count: count)
    }

    /// The first of these texts that the language has; if it has none of them, the first that the fallback has.
    private func message(
        _ code: Refusal.Code,
        _ variants: [String],
        _ values: [String: String],
        count: Int?
    ) -> String {
        let path = "refusals.\(code.rawValue)"
        guard let template = variants.lazy.compactMap({ self.texts["\(path).\($0)"] }).first else {
            return fallback?.message(code, variants, values, count: count) ?? Self.missing(path)
        }
        return template.filled(values, as: count.map(plurals.form) ?? .other)
    }
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

/// The texts of a page that a link in a mail opens.
package struct PageText: Hashable, Sendable {
    package let title: String
    package let text: String
    /// Nil if the page has no button.
    package let button: String?
}

extension Refusal {
    /// The number with this name in the parameters of the refusal; nil if there is none.
    func number(_ name: String) -> Int? {
        guard case .integer(let number) = params[name] else { return nil }
        return number
    }
}
