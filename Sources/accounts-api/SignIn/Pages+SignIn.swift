import Accounts
import HTTPTypes

/// A page whose content has at most one form, such as the page of the sign-in.
struct FormPage {
    struct Field {
        let name: String
        let label: Word
        let autocomplete: String
        var type = "text"
        var value = ""
        var isCode = false
        /// What the value must be, in the language of the page; nil if the label says enough.
        var help: String?
    }

    let title: Word
    var text: [Word] = []
    let action: String
    var fields: [Field] = []
    var hidden: [(name: String, value: String)] = []
    /// The name of the account for password managers, on a page without a field for it; nil if the page names no
    /// account.
    var accountName: String?
    /// The address or username of the account that the page is about; nil if the page does not show it.
    var subject: String?
    /// The text of the button that sends the form; nil for a page without a form.
    var button: Word?
    var isDangerous = false
    /// Whether the script fills the first field with the secret in the fragment of the URL, and hides the field.
    var takesFragment = false
    /// Whether the checkbox to keep the session is checked; nil if the form has no such checkbox.
    var isKept: Bool?
    var back: String?
    /// The text of the link ``back``; nil for ``Word/cancel`` on a page of the account, and ``Word/back`` on others.
    var backText: Word?
    /// Whether the page is one of the account. Such a page has a button that signs out.
    var isOfAccount = false
    /// The path and query at which a GET shows the page again after its form was refused. Nil if they are those of the
    /// page that contained the form.
    var address: String?
    /// The URLs outside this service to which the response to the form may redirect.
    var formTargets: [String] = []
    /// The link to the next page, on a page without a form.
    var next: (label: Word, href: String)?
    var links: [Link] = []
    /// Whether the page says whom to ask if the person has lost every second factor. The page says so only if the brand
    /// has a link for help.
    var namesContact = false
    /// The steps of the flow that the form starts, of which the page is the first; empty if it starts no flow.
    var steps: [Step] = []

    typealias Link = (text: Word?, label: Word, href: String)

    static func password(_ name: String, _ label: Word, isNew: Bool = false) -> Field {
        Field(name: name, label: label, autocomplete: isNew ? "new-password" : "current-password", type: "password")
    }

    static let code = Field(name: "code", label: .code, autocomplete: "one-time-code", isCode: true)
    static let authenticatorCode = Field(
        name: "code",
        label: .authenticatorCode,
        autocomplete: "one-time-code",
        isCode: true
    )
}

extension Pages {
    /// - Parameter problem: why the form was refused, or why the page has no form; nil if there is no problem.
    func form(_ form: FormPage, after problem: Problem? = nil, notice: Word? = nil, in language: Language) -> Page {
        let messages = language.messages
        let errors = problem?.messagesByField ?? [:]
        let firstEmpty = form.fields.first { $0.value.isEmpty }?.name
        let fields = form.fields.map { field -> JSON in
            [
                "name": .string(field.name), "label": .string(messages.text(field.label)),
                "type": .string(field.type), "value": .string(field.value),
                "autocomplete": .string(field.autocomplete), "is_code": .bool(field.isCode),
                "is_password": .bool(field.type == "password"), "help": field.help.map(JSON.string) ?? .null,
                "has_focus": .bool(field.name == firstEmpty), "error": errors[field.name].map(JSON.string) ?? .null,
            ]
        }
        let shown: JSON = [
            "action": .string(form.action), "account_name": form.accountName.map(JSON.string) ?? .null,
            "fields": .array(fields), "button": .string(form.button.map(messages.text) ?? ""),
            "hidden": .array(form.hidden.map { ["name": .string($0.name), "value": .string($0.value)] }),
            "is_dangerous": .bool(form.isDangerous), "takes_fragment": .bool(form.takesFragment),
            "can_keep": .bool(form.isKept != nil),
            "is_kept": .bool(form.isKept == true), "back": form.back.map(JSON.string) ?? .null,
            "back_text": .string(messages.text(form.backText ?? (form.isOfAccount ? .cancel : .back))),
        ]
        let next = form.next.map { next -> JSON in
            ["text": .string(messages.text(next.label)), "href": .string(next.href)]
        }
        // Some pages say in their text what was wrong.
        let isTold = !form.text.isEmpty && (problem?.slug == .codeRequired || form.button == nil)
        let problemToShow = isTold ? nil : problem
        // Without a form, no field shows what was wrong with the answer.
        let refusal = form.button == nil ? problemToShow?.messagesByField.values.first : nil
        var page = Page(
            template: .form,
            title: messages.text(form.title),
            status: problem?.slug.status ?? .ok,
            headers: problem?.headers ?? [:],
            notice: refusal ?? problemToShow.map { $0.notice(in: language) ?? messages.title(of: $0.slug) }
                ?? notice.map(messages.text),
            members: [
                .init("text", .array(form.text.map { .string(messages.text($0)) })),
                .init("subject", form.subject.map(JSON.string) ?? .null),
                .init("form", form.button == nil ? .null : shown), .init("next", next ?? .null),
                .init("contact", form.namesContact ? contact(in: language) : .null),
                .init("progress", form.steps.isEmpty ? .null : progress(at: form.steps, in: language)),
                .init("can_sign_out", .bool(form.isOfAccount)),
                .init("is_refused", .bool(problem?.slug == .validationFailed || problem?.slug == .signInFailed)),
                .init(
                    "links",
                    .array(
                        form.links.map { link in
                            [
                                "text": .string(link.text.map(messages.text) ?? ""),
                                "label": .string(messages.text(link.label)), "href": .string(link.href),
                            ]
                        }
                    )
                ),
            ]
        )
        (page.formTargets, page.address) = (form.formTargets, form.address)
        page.isNews = problem == nil || problem?.slug == .codeRequired
        page.isPublic = form.title == .signIn && page.notice == nil
        return page
    }

    /// The bar with a part for each of these steps, of which the first is the present one.
    private func progress(at steps: [Step], in language: Language) -> JSON {
        let titles = steps.enumerated().map { index, step -> JSON in
            ["title": .string(step.shortTitle(in: language) ?? ""), "is_current": .bool(index == 0)]
        }
        return ["steps": .array(titles), "place": 1, "places": .integer(steps.count)]
    }

    /// Whom to ask if the person has lost every second factor; null without a link for help, because a person cannot
    /// follow advice that does not say how.
    func contact(in language: Language) -> JSON {
        guard let url = assets.brand?.helpURL else { return .null }
        return [
            "text": .string(language.messages.lostFactor(serviceName: signups.serviceName)), "href": .string(url),
        ]
    }

    /// The page that shows, only once, the recovery code that replaces the one that the person has just used.
    func newRecoveryCode(_ code: String, next: String = "/account", in language: Language) -> Page {
        var page = Page(
            template: .codes,
            title: language.messages.text(.newRecoveryCode),
            members: [
                .init("text", .string(language.messages.text(.newRecoveryCodeText))),
                .init("kept", .string(language.messages.text(.keptIt))),
                .init("codes", [.string(code)]), .init("next", .string(next)),
            ]
        )
        page.isShownOnce = true
        return page
    }

    /// The page on which people see their account.
    ///
    /// - Parameter sessions: an object whose member `sessions` is the list of the account's sessions.
    func account(
        _ session: AccountSession,
        _ overview: AccountOverview,
        _ values: Values,
        sessions: JSON,
        notice: Word? = nil,
        in language: Language
    ) -> Page {
        let listed: [JSON] = if case .array(let all)? = sessions["sessions"] { all } else { [] }
        let shown = listed.map { one -> JSON in
            [
                "id": one["id"] ?? .null, "is_current": one["current"] ?? .null,
                "browser": one["browser"] == .null ? "?" : one["browser"] ?? "?", "network": one["network"] ?? .null,
                "at": one["last_seen_at"] ?? .null,
                "day": .string(one["last_seen_at"]?.string.map { language.day(of: $0) } ?? ""),
            ]
        }
        let edits = signups.flow.editableSteps
        // The link below the list of consents leads to the first editable step that asks only for consents.
        let consentStep = edits.first { $0.fields.allSatisfy { $0.kind.accountPart == .consents } }
        let consents = consents(overview.consents, in: language)
        return Page(
            template: .account,
            title: language.messages.text(.account),
            notice: notice.map(language.messages.text),
            isNews: true,
            members: [
                .init("profile", .array(profile(values, in: language))),
                .init("consents", .array(consents)), .init("has_consents", .bool(!consents.isEmpty)),
                .init(
                    "editable",
                    .array(
                        edits.filter { $0.name != consentStep?.name }.map {
                            [
                                "change": .string(language.messages.change(of: $0.shortTitle(in: language) ?? "")),
                                "href": .string($0.href),
                            ]
                        }
                    )
                ),
                .init("consents_href", consentStep.map { .string($0.href) } ?? .null),
                .init("address", session.account.email.map(JSON.string) ?? .null),
                .init("has_password", .bool(overview.hasPassword)),
                .init("has_authenticator", .bool(overview.hasAuthenticator)),
                .init("sessions", .array(shown)), .init("has_others", .bool(listed.count > 1)),
                .init("can_sign_out", true),
            ]
        )
    }
}

extension Pages {
    /// The values of the account, each with the label of its field. Leaves consents out, because the page lists them
    /// separately.
    private func profile(_ values: Values, in language: Language) -> [JSON] {
        signups.texts(of: values, in: language).filter { $0.0.kind.accountPart == .profile }.map { field, text in
            [
                "label": .string(field.shortLabel(in: language) ?? field.name.rawValue), "text": .string(text),
                "picture": field.kind.takesFile ? .string("/account/photos/\(field.name)") : .null,
            ]
        }
    }

    /// The consents that the flow has, in its order, even if the account never accepted or declined them; then the
    /// account's consents that the flow no longer has.
    private func consents(_ given: [GivenConsent], in language: Language) -> [JSON] {
        let fields = signups.flow.fields.filter { $0.kind.accountPart == .consents }
        let present = fields.map { field -> JSON in
            if let given = given.first(where: { $0.field == field.name.rawValue }) {
                return consent(given, in: language)
            }
            return [
                "label": .string(field.shortLabel(in: language) ?? field.name.rawValue),
                "text": .string(language.messages.text(.notAccepted)),
            ]
        }
        let others = given.filter { given in !fields.contains { $0.name.rawValue == given.field } }
        return present + others.map { consent($0, in: language) }
    }

    private func consent(_ consent: GivenConsent, in language: Language) -> JSON {
        let field = signups.flow.field(named: FieldName(consent.field))
        let kind = field?.kind.accountPart == .consents ? field?.kind : nil
        let text = kind?.reviewText(["accepted": .bool(consent.isAccepted)], in: language)
        let at = consent.givenAt.timestamp
        return [
            "label": .string(field?.shortLabel(in: language) ?? consent.field),
            "text": .string(text ?? language.messages.text(consent.isAccepted ? .accepted : .notAccepted)),
            "version": .string(consent.version), "at": .string(at), "day": .string(language.day(of: at)),
        ]
    }
}

extension Language {
    /// The day of an RFC 3339 time, in the usual form of the language.
    fileprivate func day(of time: String) -> String {
        CivilDate(json: .string(String(time.prefix(10)))).map(messages.text) ?? time
    }
}
