import Accounts
import HTTPTypes
import Hummingbird

/// The pages with which people set up, replace and remove the authenticator app of their account, and replace its
/// recovery codes.
struct AuthenticatorPages: Sendable {
    let pages: Pages
    let signIn: SignInPages
    let account: AccountRoutes

    static let path = "/account/authenticator"
    private var sessions: Sessions { account.sessions }

    @Sendable func show(_ request: Request, _ context: RequestScope) async throws -> Response {
        let current = try await signIn.required(context)
        let target = ReturnTarget(of: request, among: signIn.returnTargets)
        guard current.isConfirmed else { return Self.confirm(then: target) }
        let codes = try await unsavedCodes(of: current, request)
        let page =
            codes.isEmpty
            ? try await page(for: current, then: target, in: context.language)
            : pages.unsavedCodes(codes, of: current.account, then: target, in: context.language)
        return pages.response(page, in: context.language)
    }

    @Sendable func add(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await change(request, context) { request, context in
            try await account.addAuthenticator(request, context)
        }
    }

    @Sendable func askForNewCodes(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await ask(.newRecoveryCodes, .newRecoveryCodesText, sendingTo: "codes", context)
    }

    @Sendable func askToRemove(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await ask(.removeAuthenticator, .removeAuthenticatorText, sendingTo: "remove", isDangerous: true, context)
    }

    /// Asks whether to remove the authenticator app, or to replace its recovery codes. Redirects instead if the session
    /// must be confirmed first, or if the account has no app.
    ///
    /// - Parameters:
    ///   - title: the title, which is also the text of the button.
    ///   - action: the last part of the path to which the form is sent.
    private func ask(
        _ title: Word,
        _ text: Word,
        sendingTo action: String,
        isDangerous: Bool = false,
        _ context: RequestScope
    ) async throws -> Response {
        let current = try await signIn.required(context)
        guard current.isConfirmed else { return Self.confirm(then: .account) }
        guard try await sessions.overview(of: current.account.id).hasAuthenticator else {
            return Pages.seeOther(Self.path)
        }
        let form = FormPage(
            title: title,
            text: [text],
            action: "\(Self.path)/\(action)",
            button: title,
            isDangerous: isDangerous,
            back: Self.path,
            isOfAccount: true
        )
        return signIn.response(form, context)
    }

    @Sendable func newCodes(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await change(request, context) { request, context in
            try await account.newRecoveryCodes(request, context)
        }
    }

    @Sendable func remove(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await change(request, context) { request, context in
            try await account.removeAuthenticator(request, context)
        }
    }

    /// Leads on after the person has saved the new recovery codes, and deletes their cookie.
    @Sendable func forgetCodes(_ request: Request, _ context: RequestScope) -> Response {
        let (_, target) = ReturnTarget.taken(from: context, among: signIn.returnTargets)
        var headers: HTTPFields = [:]
        headers.append(account.cookies.recoveryCodes.clear)
        return Pages.seeOther(target.url ?? "/account?saved", headers)
    }

    /// Redirects to the page that asks for a confirmation. After it, the person comes back to the page of the
    /// authenticator app.
    private static func confirm(then target: ReturnTarget) -> Response {
        Pages.seeOther(target.carried(by: "/account/confirm?authenticator"))
    }

    /// Runs a handler of the JSON API. If it returns new recovery codes, puts them into a cookie, and redirects to the
    /// page of the authenticator app, which shows them; otherwise redirects to the account. If the person can solve a
    /// problem on the page of the authenticator app, shows this page, whichever form was sent. Redirects to the
    /// confirmation if the session must be confirmed, and to the sign-in if the session has ended and the person came
    /// from a page to return to.
    private func change(
        _ request: Request,
        _ context: RequestScope,
        _ handle: (Request, SessionContext) async throws -> Answer
    ) async throws -> Response {
        var (context, target) = ReturnTarget.taken(from: context, among: signIn.returnTargets)
        var current: AccountSession?
        do {
            let session = try await signIn.required(context)
            current = session
            context.session = session
            var answer = try await handle(request, SessionContext(context: context))
            guard let codes = answer.json?["recovery_codes"], case .array(let texts) = codes else {
                return Pages.seeOther("/account?authenticator-removed", answer.headers)
            }
            guard answer.json?["session"] != nil else {
                // A sign-out has ended the session meanwhile, so no other page can show the codes.
                var page = pages.recoveryCodes(codes, next: target.url ?? "/account?saved", in: context.language)
                page.headers.add(answer.headers)
                return pages.response(page, in: context.language)
            }
            let sealed = sessions.seal(recoveryCodes: texts.compactMap(\.string), for: session)
            answer.headers.append(account.cookies.recoveryCodes.set(sealed, for: session.cookieLifetime))
            return Pages.seeOther(target.carried(by: Self.path), answer.headers)
        } catch {
            let problem = ProblemContext(
                language: context.language,
                logger: context.logger,
                representations: account.representations
            ).problem(for: error)
            if problem.slug == .confirmationRequired || problem.isOfIdleSession { return Self.confirm(then: target) }
            if problem.isOfNoSession, target.url != nil {
                return Pages.seeOther(target.carried(by: "/sign-in?ended"))
            }
            guard let current, problem.isForTheSamePage else { throw problem }
            // A malformed code is refused before the handler looks whether the session is confirmed.
            guard current.isConfirmed else { return Self.confirm(then: target) }
            // The code of a form that was sent twice is used up, and the first one has made the recovery codes.
            if problem.slug == .validationFailed, try await !unsavedCodes(of: current, request).isEmpty {
                return Pages.seeOther(target.carried(by: Self.path))
            }
            context.subject.set(problem)
            let page = try await page(for: current, then: target, after: problem, in: context.language)
            return pages.response(page, in: context.language)
        }
    }

    /// The new recovery codes that the person has not saved yet. The session must be confirmed.
    private func unsavedCodes(of session: AccountSession, _ request: Request) async throws -> [RecoveryCode] {
        guard let sealed = account.cookies.recoveryCodes.values(in: request.headers).first else { return [] }
        return try await sessions.unsavedCodes(sealed, of: session)
    }

    private func page(
        for session: AccountSession,
        then target: ReturnTarget,
        after problem: Problem? = nil,
        in language: Language
    ) async throws -> Page {
        pages.authenticator(
            try await sessions.enrolment(of: session),
            isSet: try await sessions.overview(of: session.account.id).hasAuthenticator,
            isRequired: sessions.flow.requiresAuthenticator,
            then: target,
            after: problem,
            in: language
        )
    }
}

extension AuthenticatorPages {
    var operations: [Operation] {
        [
            .page("account/authenticator", "showAuthenticatorPage", query: ["return_to"], show),
            .page("account/authenticator/codes", "askForNewCodes", askForNewCodes),
            .page("account/authenticator/remove", "askToRemoveAuthenticator", askToRemove),
            .form("account/authenticator", "authenticatorForm", add),
            .form("account/authenticator/codes", "recoveryCodesForm", newCodes),
            .form("account/authenticator/remove", "removeAuthenticatorForm", remove),
            .init(
                .post,
                "account/authenticator/saved",
                .form("savedRecoveryCodesForm", secretMembers: []),
                responses: [.seeOther: .nothing],
                .signInPage(forgetCodes)
            ),
        ]
    }
}

extension Pages {
    fileprivate func unsavedCodes(
        _ codes: [RecoveryCode],
        of account: Account,
        then target: ReturnTarget,
        in language: Language
    ) -> Page {
        let path = "\(AuthenticatorPages.path)/saved"
        var page = unsavedCodes(codes, of: account.email ?? account.username, savedAt: path, in: language)
        page.members.append(.init("return_to", target.url.map(JSON.string) ?? .null))
        page.formTargets = [target.authorization?.redirectURI ?? target.url].compactMap { $0 }
        return page
    }

    /// - Parameters:
    ///   - isSet: whether the account has an app already.
    ///   - isRequired: whether every account must have an app.
    ///   - target: the page to which the person goes afterwards.
    fileprivate func authenticator(
        _ enrolment: Enrolment,
        isSet: Bool,
        isRequired: Bool,
        then target: ReturnTarget,
        after problem: Problem?,
        in language: Language
    ) -> Page {
        let messages = language.messages
        var step: [JSON.Member] = [.init("otpauth_uri", .string(enrolment.uri))]
        if let code = QRCode(enrolment.uri) { step.append(.init("qr_svg", .string(code.svg))) }
        var field: [JSON.Member] = [
            .init("name", "code"), .init("kind", "code"), .init("id", "field-code"), .init("required", true),
            .init("label", .string(messages.text(.authenticatorCode))),
            .init("help", .string(messages.text(.authenticatorHelp))),
            .init("rules", ["digits": .integer(TOTP.digits), "period": .integer(TOTP.period)]),
            // If the account has an app, the page first offers other changes, so this field has the focus only after
            // a problem.
            .init("has_focus", .bool(!isSet || problem != nil)),
        ]
        if let error = problem?.messagesByField["code"] { field.append(.init("error", .string(error))) }
        return Page(
            template: .authenticator,
            title: messages.text(.authenticator),
            status: problem?.slug.status ?? .ok,
            headers: problem?.headers ?? [:],
            notice: problem?.notice(in: language),
            members: [
                .init("is_replaced", .bool(isSet)), .init("is_removable", .bool(!isRequired)),
                .init("is_missing", .bool(isRequired && !isSet)), .init("can_sign_out", true),
                .init("return_to", target.url.map(JSON.string) ?? nil),
                .init("step", .object(step)), .init("field", .object(field)),
                .init("secret_groups", .array(enrolment.secret.inGroups(of: 4).map(JSON.string))),
            ]
        )
    }
}
