import Accounts
import HTTPTypes
import Hummingbird
import Logging

/// The pages for signing in and for the account. The pages for signing in call the same handlers as the JSON API.
struct SignInPages: Sendable {
    let session: SessionRoutes
    let account: AccountRoutes
    let pages: Pages
    /// The handlers that change the address of an account; nil if accounts have no address.
    let emailChange: EmailChangeRoutes?
    /// The pages to which a person may be sent after signing in.
    let returnTargets: ReturnTargets

    var sessions: Sessions { session.sessions }

    // MARK: Signing in

    /// The page that asks for a sign-in even if the browser has a session, for example with another account.
    static let signInAnew = "/sign-in?anew"

    @Sendable func showSignIn(_ request: Request, _ context: RequestScope) async throws -> Response {
        let target = ReturnTarget(of: request, among: returnTargets)
        let isAnew = request.uri.queryParameters["anew"] != nil
        if !isAnew, try await current(context) != nil { return Pages.seeOther(target.url ?? "/account") }
        let hint = AddressHint(of: request, target.authorization)
        guard sessions.flow.signIn.methods.contains(.password) else {
            let query = hint.map { "login_hint=\($0.encoded)" } ?? Self.notice(of: request).map { "\($0.key)" }
            return Pages.seeOther(target.carried(by: query.map { "/sign-in/mail?\($0)" } ?? "/sign-in/mail"))
        }
        return response(signInForm(hint?.text ?? "").carrying(target), notice: Self.notice(of: request)?.value, context)
    }

    /// The notice that the query selects, such as that of `/sign-in?ended`.
    private static func notice(of request: Request) -> (key: String, value: Word)? {
        let notices: [String: Word] = [
            "signed-out": .signedOut, "known": .deviceKnown, "ended": .sessionEnded, "over": .signInOver,
        ]
        let key = String((request.uri.query ?? "").prefix { $0 != "&" })
        return notices[key].map { (key, $0) }
    }

    private func signInForm(_ identifier: String = "", isKept: Bool = false) -> FormPage {
        let mail: [FormPage.Link] =
            sessions.flow.signIn.methods.contains(.code) ? [(nil, .signInByMail, "/sign-in/mail")] : []
        return FormPage(
            title: .signIn,
            action: "/sign-in",
            fields: [
                .init(name: "identifier", label: .identifier, autocomplete: "username", value: identifier),
                FormPage.password("password", .password),
            ],
            button: .signIn,
            isKept: isKept,
            links: mail + recovery + [(.noAccount, .signUp, "/signup")]
        )
    }

    /// The link to the recovery, if the flow has one.
    var recovery: [FormPage.Link] {
        sessions.flow.hasRecovery ? [(nil, .forgotPassword, FlowPurpose.recovery.path)] : []
    }

    @Sendable func signIn(_ request: Request, _ context: RequestScope) async throws -> Response {
        let (context, target) = ReturnTarget.taken(from: context, among: returnTargets)
        let typed = context.answers["identifier"]?.json?.string ?? ""
        return try await answering(context, then: target) {
            try await session.signIn(request, context)
        } orShow: { problem in
            if problem.slug == .codeRequired { return mailForm(typed) }
            return signInForm(typed, isKept: context.answers["keep"] != nil)
        }
    }

    /// The form that mails a code, for a person whose password alone is not enough on this device. It contains the
    /// identifier that the person has typed before.
    private func mailForm(_ identifier: String) -> FormPage {
        FormPage(
            title: .mailCodeTitle,
            text: [.mailCodeText],
            action: "/sign-in/mail",
            hidden: [("identifier", identifier)],
            button: .mailCode,
            back: "/sign-in",
            links: recovery
        )
    }

    @Sendable func showMail(_ request: Request, _ context: RequestScope) -> Response {
        let target = ReturnTarget(of: request, among: returnTargets)
        let hint = AddressHint(of: request, target.authorization)?.text ?? ""
        let form = askingMailForm(identifier: hint).carrying(target)
        return response(form, notice: Self.notice(of: request)?.value, context)
    }

    /// The form that asks for the account to which a code is mailed. If the flow has no sign-in by code, the code only
    /// makes the device known.
    private func askingMailForm(identifier: String = "") -> FormPage {
        let signsIn = sessions.flow.signIn.methods.contains(.code)
        return FormPage(
            title: signsIn ? .signInByMail : .mailCodeTitle,
            text: signsIn ? [] : [.mailCodeText],
            action: "/sign-in/mail",
            fields: [.init(name: "identifier", label: .identifier, autocomplete: "username", value: identifier)],
            button: .mailCode,
            back: sessions.flow.signIn.methods.contains(.password) ? "/sign-in" : nil,
            links: recovery + [(.noAccount, .signUp, "/signup")]
        )
    }

    @Sendable func showSecondFactor(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await show(Self.secondFactorForm, for: .secondFactor, request, context)
    }

    /// Shows a form if a sign-in of the browser waits for the answer to this form. If the sign-in waits for another
    /// answer, redirects to the form for that answer. If no sign-in waits, redirects a signed-in person as `/sign-in`
    /// does, and anyone else to `/sign-in`.
    private func show(
        _ form: FormPage,
        for answer: PendingSignIn.Awaited,
        _ request: Request,
        _ context: RequestScope
    ) async throws -> Response {
        let target = ReturnTarget(of: request, among: returnTargets)
        // The cookie may hold the token of a session instead. No sign-in has that token.
        let token = context.credentials.token(of: PendingSignIn.self)
        if let token, let awaited = try await sessions.awaited(by: token) {
            if awaited == answer { return response(form.carrying(target), context) }
            let other = awaited == .code ? "/sign-in/code" : "/sign-in/second-factor"
            return Pages.seeOther(target.carried(by: other))
        }
        let isSignedIn = try await current(context) != nil
        return Pages.seeOther(isSignedIn ? target.url ?? "/account" : target.carried(by: "/sign-in?over"))
    }

    private static let secondFactorForm = FormPage(
        title: .secondFactor,
        text: [.secondFactorText],
        action: "/sign-in/second-factor",
        fields: [FormPage.authenticatorCode],
        button: .signIn,
        back: "/sign-in",
        links: [(nil, .useRecoveryCode, "/sign-in/recovery-code")],
        namesContact: true
    )

    /// The page after too many wrong second factors, which have ended the sign-in.
    private static let overPage = FormPage(title: .secondFactor, action: "/sign-in", next: (.signInAgain, "/sign-in"))

    /// The form after a refused second factor: the form that mails a code if the device needs one, ``overPage`` after
    /// too many wrong codes, otherwise the same form.
    private func secondFactor(_ form: FormPage, after problem: Problem) -> FormPage {
        if problem.slug == .codeRequired { return askingMailForm() }
        return problem.refusalCodes.contains(Refusal.Code.codeExhausted.rawValue) ? Self.overPage : form
    }

    @Sendable func enterSecondFactor(_ request: Request, _ context: RequestScope) async throws -> Response {
        let (context, target) = ReturnTarget.taken(from: context, among: returnTargets)
        return try await answering(context, then: target) {
            try await session.enterTOTP(request, context)
        } orShow: { problem in
            secondFactor(Self.secondFactorForm, after: problem)
        }
    }

    @Sendable func showRecoveryCode(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await show(Self.recoveryCodeForm, for: .secondFactor, request, context)
    }

    private static let recoveryCodeForm = FormPage(
        title: .useRecoveryCode,
        text: [.recoveryCodeText],
        action: "/sign-in/recovery-code",
        fields: [.init(name: "code", label: .recoveryCode, autocomplete: "off")],
        button: .signIn,
        back: "/sign-in/second-factor",
        namesContact: true
    )

    @Sendable func enterRecoveryCode(_ request: Request, _ context: RequestScope) async throws -> Response {
        let (context, target) = ReturnTarget.taken(from: context, among: returnTargets)
        return try await answering(context, then: target) {
            try await session.enterRecoveryCode(request, context)
        } orShow: { problem in
            secondFactor(Self.recoveryCodeForm, after: problem)
        }
    }

    @Sendable func mailCode(_ request: Request, _ context: RequestScope) async throws -> Response {
        let (context, target) = ReturnTarget.taken(from: context, among: returnTargets)
        let typed = context.answers["identifier"]?.json?.string ?? ""
        return try await answering(context, then: target) {
            try await session.mailCode(request, context)
        } orShow: { problem in
            var form = askingMailForm(identifier: typed)
            if problem.limit == Limits.OtherName.resend.rawValue {
                form.links.insert((nil, .enterCode, "/sign-in/code"), at: 0)
            }
            return form
        }
    }

    @Sendable func showCode(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await show(Self.codeForm, for: .code, request, context)
    }

    private static let codeForm = FormPage(
        title: .enterMailedCode,
        text: [.enterMailedCodeText, .mailMissing],
        action: "/sign-in/code",
        fields: [FormPage.code],
        button: .goOn,
        back: "/sign-in",
        links: [(nil, .sendAgain, "/sign-in/mail")]
    )

    /// The page after too many wrong codes. If a rate limit refuses to mail another code, the link in the newest mail
    /// still works.
    private static let usedUpCodePage = FormPage(
        title: .enterMailedCode,
        text: [.codesUsedUp],
        action: "/sign-in/code",
        next: (.sendAgain, "/sign-in/mail"),
        links: [(nil, .signIn, "/sign-in")]
    )

    @Sendable func enterCode(_ request: Request, _ context: RequestScope) async throws -> Response {
        let (context, target) = ReturnTarget.taken(from: context, among: returnTargets)
        return try await answering(context, then: target) {
            try await session.enterCode(request, context)
        } orShow: { problem in
            problem.refusalCodes.contains(Refusal.Code.codeExhausted.rawValue) ? Self.usedUpCodePage : Self.codeForm
        }
    }

    /// Shows the page to which the link in a mail with a code leads. Mail scanners open links, so this changes nothing.
    @Sendable func showTicket(_ request: Request, _ context: RequestScope) throws -> Response {
        guard let text = request.uri.queryParameters["ticket"] else {
            throw Problem(.notFound, "The link is incomplete. Open the complete link from the mail.")
        }
        // A mail program may have cut the link.
        guard let ticket = Ticket(String(text)) else {
            let problem = Problem.refused([Refusal("ticket", .badFormat)], in: context.language)
            var page = pages.form(Self.invalidTicketPage, after: problem, in: context.language)
            page.status = .notFound
            return pages.response(page, in: context.language)
        }
        return response(Self.ticketForm(ticket.text), context)
    }

    private static func ticketForm(_ ticket: String) -> FormPage {
        FormPage(
            title: .ticketTitle,
            text: [.ticketText],
            action: "/session/ticket/redeem",
            hidden: [("ticket", ticket)],
            button: .mailCode
        )
    }

    /// The page for a link that does not work.
    private static let invalidTicketPage = FormPage(
        title: .ticketInvalid,
        action: "/sign-in",
        next: (.signIn, "/sign-in")
    )

    @Sendable func redeemTicket(_ request: Request, _ context: RequestScope) async throws -> Response {
        let ticket = context.answers["ticket"]?.json?.string ?? ""
        return try await answering(context) {
            try await session.redeemTicket(request, context)
        } orShow: { problem in
            problem.slug == .validationFailed ? Self.invalidTicketPage : Self.ticketForm(ticket)
        }
    }

    // MARK: Answers

    /// Runs `act`, and redirects to the page that its answer requires. If the answer has a new recovery code, shows the
    /// code instead. If the person can solve a problem in a form, shows the form that `form` returns for the problem.
    ///
    /// - Parameters:
    ///   - next: the page to redirect to if the answer names no step; nil for the target.
    ///   - last: the page that is shown without a redirect; nil to redirect.
    ///   - target: the page to which the person goes after signing in.
    ///   - query: the query of the page `/account/confirm`, to which this redirects if the act needs a confirmation.
    func answering(
        _ context: RequestScope,
        next: String? = nil,
        last: FormPage? = nil,
        then target: ReturnTarget = .account,
        confirming query: String = "",
        _ act: () async throws -> Answer,
        orShow form: (Problem) -> FormPage
    ) async throws -> Response {
        do {
            let answer = try await act()
            let target = target.chosen(by: answer, returnTargets.provider)
            let code = answer.json?["recovery_code"]?.string
            let newCode = code.map { pages.newRecoveryCode($0, next: target.url ?? "/account", in: context.language) }
            if var page = newCode ?? last.map({ pages.form($0, in: context.language) }) {
                page.headers.add(answer.headers)
                page.isShownOnce = true
                return pages.response(page, in: context.language)
            }
            let page = Self.page(of: answer.json?["next"]?["step"]?.string).map { target.carried(by: $0) }
            return Pages.seeOther(page ?? next ?? target.url ?? "/account", answer.headers)
        } catch {
            let problem = ProblemContext(
                language: context.language,
                logger: context.logger,
                representations: session.representations
            ).problem(for: error)
            switch problem.slug {
            case .signInFailed, .codeRequired, .validationFailed, .rateLimited, .busy, .unavailable:
                context.subject.set(problem)
                return pages.response(
                    pages.form(form(problem).carrying(target), after: problem, in: context.language),
                    in: context.language
                )
            case .confirmationRequired: return Pages.seeOther("/account/confirm?\(query)")
            case .noSession where target.url != nil && problem.isOfNoSession:
                let notice = form(problem).action.hasPrefix("/sign-in") ? "over" : "ended"
                return Pages.seeOther(target.carried(by: "/sign-in?\(notice)"))
            default: throw problem
            }
        }
    }

    /// The page on which the person takes the next step of the sign-in; nil if no step follows, and for `mailCode` and
    /// `confirm`, which only problems name.
    private static func page(of step: String?) -> String? {
        switch step.flatMap(SignInStep.init) {
        case .secondFactor: "/sign-in/second-factor"
        case .code: "/sign-in/code"
        case .password: "/sign-in?known"
        case .signIn: "/sign-in"
        case .setUpAuthenticator: AuthenticatorPages.path
        case .mailCode, .confirm, nil: nil
        }
    }

    func response(_ form: FormPage, notice: Word? = nil, _ context: RequestScope) -> Response {
        pages.response(pages.form(form, notice: notice, in: context.language), in: context.language)
    }

    /// The session of the browser; nil if it has none, or an idle one.
    private func current(_ context: RequestScope) async throws -> AccountSession? {
        guard let token = context.credentials.token(of: AccountSession.self) else { return nil }
        do throws(SignInError) { return try await sessions.find(token) } catch {
            switch error {
            case .noSession, .idle: return nil
            default: throw error
            }
        }
    }

    func required(_ context: RequestScope) async throws -> AccountSession {
        guard let token = context.credentials.token(of: AccountSession.self) else { throw Problem.noSession }
        return try await sessions.find(token)
    }
}

extension SignInPages {
    var operations: [Operation] {
        let password: Set<String> = ["password"]
        return [
            .page(
                "sign-in",
                "showSignIn",
                query: ["return_to", "anew", "login_hint", "email", "locale", "ui_locales"],
                showSignIn
            ),
            .form("sign-in", "signInForm", secretMembers: password, signIn),
            .page("sign-in/second-factor", "showSecondFactor", query: ["return_to"], showSecondFactor),
            .form("sign-in/second-factor", "secondFactorForm", enterSecondFactor),
            .page("sign-in/recovery-code", "showRecoveryCode", query: ["return_to"], showRecoveryCode),
            .form("sign-in/recovery-code", "recoveryCodeForm", enterRecoveryCode),
            .page("sign-in/mail", "showMail", query: ["return_to", "login_hint", "email"], showMail),
            .form("sign-in/mail", "mailCodeForm", mailCode),
            .page("sign-in/code", "showMailedCode", query: ["return_to"], showCode),
            .form("sign-in/code", "mailedCodeForm", enterCode),
            .page("session/ticket", "showSignInTicket", query: [.required("ticket")], showTicket),
            .form("session/ticket/redeem", "signInTicketForm", redeemTicket),
            .init(
                .get,
                ".well-known/change-password",
                .changePasswordURL,
                responses: [.seeOther: .nothing],
                .signInPage { _, _ in Pages.seeOther("/account/password") }
            ),
            .init(
                .post,
                "account/sign-out",
                .form("signOutForm", secretMembers: []),
                responses: [.seeOther: .nothing],
                .signInPage(signOut)
            ),
            .page("account/confirm", "showConfirmation", query: ["return_to"], showConfirmation),
            .form("account/confirm", "confirmForm", secretMembers: password, confirm),
            .page("account/password", "showPassword", showPassword),
            .form(
                "account/password",
                "passwordForm",
                secretMembers: sessions.flow.secretMembers,
                changePassword
            ),
            .page("account/email", "showEmail", showEmail),
            .form("account/email", "emailForm", startEmailChange),
            .page("account/erase", "showErase", showErase),
            .form("account/erase", "eraseForm", erase),
        ]
    }
}

extension Operation {
    typealias PageHandler = @Sendable (Request, RequestScope) async throws -> Response

    /// A page of the sign-in or the account.
    static func page(
        _ path: String,
        _ name: String,
        query: [Parameter] = [],
        _ handle: @escaping PageHandler
    ) -> Operation {
        .init(.get, path, .page(name, query: query), responses: [.ok: .page], .signInPage(handle))
    }

    /// The operation that receives the form of a page of the sign-in or the account.
    static func form(
        _ path: String,
        _ name: String,
        secretMembers: Set<String> = [],
        _ handle: @escaping PageHandler
    ) -> Operation {
        .init(
            .post,
            path,
            .form(name, secretMembers: secretMembers),
            responses: [.seeOther: .nothing, .ok: .page],
            .signInPage(handle)
        )
    }
}

extension Operation.Act {
    static func page(_ name: String, query: [Operation.Parameter]) -> Self {
        Self(
            name,
            "Shows a page; changes nothing",
            query: query,
            problems: [.notFound, .noSession],
            needsKeys: true
        )
    }

    static let changePasswordURL = Self("changePasswordURL", "Redirects to the page for a new password")

    /// The act of a submitted form. API clients use the paths under `/session` and `/account` instead.
    static func form(_ name: String, secretMembers: Set<String>, credentials: Operation.Credentials? = nil) -> Self {
        Self(
            name,
            "Handles the form of the page, and redirects to the next page",
            body: .form(secretMembers: secretMembers),
            problems: [.noSession, .signInFailed, .codeRequired, .validationFailed, .rateLimited, .busy, .notFound],
            needsKeys: true,
            credentials: credentials
        )
    }
}
