import Accounts
import HTTPTypes
import Hummingbird

/// The pages and redirects for a browser that an application sends to this service: for an authorization request, and
/// for a sign-out.
struct AuthorizePages: Sendable {
    let provider: Provider
    let session: SessionRoutes
    let signup: FlowSite
    /// The flow of a recovery; nil if accounts cannot be recovered.
    let recovery: FlowSite?

    private var pages: Pages { signup.pages }

    // MARK: Authorization

    @Sendable func authorize(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await redirecting {
            let parameters = try OAuthParameters(query: request.uri.query ?? "")
            return try await goOn(with: provider.request(parameters), context, request, isFirst: true)
        }
    }

    @Sendable func authorizeForm(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await Self.redirectedAsGET(request, at: "/oauth/authorize")
    }

    /// Answers a POST with a redirect to the path, so that the browser sends a GET with the form as its query. Browsers
    /// send the cookie of the session with a GET from another site, but not with a POST.
    private static func redirectedAsGET(_ request: Request, at path: String) async throws -> Response {
        try BodyReader.refuseContentCoding(in: request.headers, accept: BodyType.form.rawValue)
        let body = try await BodyReader.read(
            request.body,
            of: request.bodyLength,
            upTo: URILimit.maximumBytes - path.utf8.count - 1
        )
        let query = body.withBytes { String(decoding: $0, as: UTF8.self) }
        guard BodyType(request.headers[.contentType]) == .form, query.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw Problem(.malformedRequest, "The body is not application/x-www-form-urlencoded.") }
        return Pages.seeOther("\(path)?\(query)")
    }

    /// Continues an authorization request, for example after the person has signed in. If the query has `sign-up`,
    /// leads to a sign-up for it instead, unless the authorization request forbids sign-ups. If the query has
    /// `recover`, leads to a recovery for it instead, unless the flow has no recovery.
    @Sendable func resume(_ request: Request, _ context: RequestScope) async throws -> Response {
        let query = request.uri.queryParameters
        guard let authorization = query["request"].flatMap({ provider.request(ticket: String($0)) }) else {
            throw Problem(
                .notFound,
                "The authorization request has expired or is invalid. Start again at the application."
            )
        }
        if query["sign-up"] != nil, authorization.allowsSignUp {
            return try await begin(signup, for: authorization, context, request)
        }
        if query["recover"] != nil, let recovery {
            return try await begin(recovery, for: authorization, context, request)
        }
        return try await redirecting { try await goOn(with: authorization, context, request) }
    }

    /// - Parameter isFirst: whether the application has sent the request just now. The request then records the present
    ///   time as the time at which it was made.
    private func goOn(
        with authorization: AuthorizationRequest,
        _ context: RequestScope,
        _ request: Request,
        isFirst: Bool = false
    ) async throws -> Response {
        let current = try await current(context)
        var (authorization, context) = (authorization, context)
        context.language = context.chosenLanguage ?? provider.language(of: authorization) ?? context.language
        if isFirst { authorization = try await provider.dated(authorization, current) }
        let target = ReturnTarget(authorization, provider.keys)
        switch try await provider.authorize(authorization, current) {
        case .redirect(let uri): return Pages.seeOther(uri)
        case .signIn: return Pages.seeOther(target.carried(by: "/sign-in"))
        case .signInAnew: return Pages.seeOther(target.carried(by: SignInPages.signInAnew))
        case .confirm: return Pages.seeOther(target.carried(by: "/account/confirm"))
        case .setUpAuthenticator: return Pages.seeOther(target.carried(by: AuthenticatorPages.path))
        case .signUp: return try await begin(signup, for: authorization, context, request)
        case .choose: return choice(authorization, current, context.language)
        }
    }

    static func path(_ ticket: String) -> String { "/oauth/authorize/continue?request=\(ticket)" }

    /// Redirects to the page that starts a sign-up or a recovery for the authorization request. If the browser already
    /// has an open draft of this flow, shows a form instead: the draft continues for the request only after the person
    /// has sent the form, which another site cannot send.
    private func begin(
        _ site: FlowSite,
        for authorization: AuthorizationRequest,
        _ context: RequestScope,
        _ request: Request
    ) async throws -> Response {
        let token = site.cookie.values(in: request.headers).first.flatMap { Token<Draft>($0) }
        let (path, ticket) = (site.purpose.path, authorization.ticket(provider.keys))
        guard try await site.signupRoutes.openDraft(of: token) != nil else {
            // If the browser has a cookie, its draft has ended or is committed. Deletes the cookie, because the page
            // would otherwise be about that draft.
            return Pages.seeOther(
                "\(path)?request=\(ticket)",
                token == nil ? [:] : [.setCookie: site.cookie.clear.value]
            )
        }
        let title: Word = site.purpose == .signup ? .signUp : .recoverTitle
        let page = FormPage(title: title, action: path, hidden: [("request", ticket)], button: .goOn)
        return pages.response(pages.form(page, in: context.language), in: context.language)
    }

    private func choice(
        _ authorization: AuthorizationRequest,
        _ session: AccountSession?,
        _ language: Language
    ) -> Response {
        let name = session?.account.email ?? session?.account.username ?? ""
        let target = ReturnTarget(authorization, provider.keys)
        // The ticket in the URL, which is the encrypted authorization request, contains the choice. So only this
        // service can make such a URL.
        let chosen = session.map { authorization.choosing($0.id) } ?? authorization
        let page = Page(
            template: .choice,
            title: language.messages.text(.chooseAccount),
            members: [
                .init("account", .string(name)), .init("next", .string(Self.path(chosen.ticket(provider.keys)))),
                .init("sign_in", .string(target.carried(by: SignInPages.signInAnew))),
                .init("sign_up", authorization.allowsSignUp ? .string("\(target.url ?? "")&sign-up=1") : .null),
                .init(
                    "go_on",
                    .string(
                        language.messages.chooseAccount(
                            for: provider.application(authorization.application)?.name(in: language) ?? ""
                        )
                    )
                ),
            ]
        )
        return pages.response(page, in: language)
    }

    /// The session of the browser, even if it is idle; nil if there is none.
    private func current(_ context: RequestScope) async throws -> AccountSession? {
        guard let token = context.credentials.token(of: AccountSession.self) else { return nil }
        do throws(SignInError) { return try await provider.sessions.findEvenIfIdle(token) } catch {
            switch error {
            case .noSession: return nil
            default: throw error
            }
        }
    }

    /// Runs `act`. If the request is refused with an error for the application, redirects the browser back to the
    /// application with that error.
    private func redirecting(_ act: () async throws -> Response) async throws -> Response {
        do {
            return try await act()
        } catch AuthorizationError.refused(let refusal) {
            return Pages.seeOther(provider.redirect(refusal))
        } catch let error as OAuthError {
            throw ProviderError.oauth(error)
        }
    }

    // MARK: Sign-out

    @Sendable func signOut(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await signOut(OAuthParameters(query: request.uri.query ?? ""), request, context)
    }

    @Sendable func signOutForm(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await Self.redirectedAsGET(request, at: "/oauth/logout")
    }

    /// Signs the browser out, and redirects it back to the application, or to the sign-in page if the application names
    /// no URI. Asks the person first, unless the `id_token_hint` of the application belongs to the session of the
    /// browser (RP-Initiated Logout 1.0 §2). A browser without a session is only redirected.
    private func signOut(
        _ parameters: OAuthParameters,
        _ request: Request,
        _ context: RequestScope
    ) async throws -> Response {
        let asked = try await provider.signOutRequest(parameters)
        guard let current = try await current(context) else {
            return Pages.seeOther(asked.target ?? "/sign-in?signed-out")
        }
        if try await provider.concerns(asked, current) {
            return Pages.seeOther(
                asked.target ?? "/sign-in?signed-out",
                try await session.signOut(request, context).headers
            )
        }
        let page = FormPage(
            title: .signOutTitle,
            text: [.signOutText],
            action: "/oauth/logout/confirm",
            hidden: [("target", asked.target.map { provider.seal(target: $0) } ?? "")],
            accountName: current.account.email ?? current.account.username,
            button: .signOut,
            back: "/account",
            backText: .cancel
        )
        var shown = pages.form(page, in: context.language)
        shown.formTargets = asked.target.map { [$0] } ?? []
        return pages.response(shown, in: context.language)
    }

    @Sendable func confirmSignOut(_ request: Request, _ context: RequestScope) async throws -> Response {
        let target = context.answers["target"]?.json?.string.flatMap { provider.open(target: $0) }
        var headers: HTTPFields = [:]
        do {
            headers = try await session.signOut(request, context).headers
        } catch let problem as Problem where problem.slug == .noSession {
            // The session has ended while the browser showed the question.
        }
        return Pages.seeOther(target ?? "/sign-in?signed-out", headers)
    }
}

extension UnanswerableRequest {
    var problem: Problem { Problem(.malformedRequest, "invalid_request: \(detail)") }
}

extension AuthorizationError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .unanswerable(let request): request.problem
        case .refused(let request): Problem(.malformedRequest, request.error.description)
        case .provider(let error): error.problem(in: context)
        }
    }
}

extension AuthorizePages {
    var operations: [Operation] {
        func page(
            _ method: HTTPRequest.Method,
            _ path: String,
            _ act: Operation.Act,
            _ handle: @escaping @Sendable (Request, RequestScope) async throws -> Response
        ) -> Operation {
            .init(method, path, act, responses: [.seeOther: .nothing, .ok: .page], .application(handle))
        }
        return [
            page(.get, "oauth/authorize", .authorize, authorize),
            page(.post, "oauth/authorize", .authorizeForm, authorizeForm),
            page(.get, "oauth/authorize/continue", .continueAuthorization, resume),
            page(.get, "oauth/logout", .applicationSignOut, signOut),
            page(.post, "oauth/logout", .applicationSignOutForm, signOutForm),
            .init(
                .post,
                "oauth/logout/confirm",
                .form("confirmSignOut", secretMembers: []),
                responses: [.seeOther: .nothing],
                .signInPage(confirmSignOut)
            ),
        ]
    }
}

extension Operation.Act {
    static let authorizeParameters: [Operation.Parameter] = [
        .required("client_id"), "request_uri", "redirect_uri", "response_type", "response_mode", "scope", "state",
        "nonce", "code_challenge", "code_challenge_method", "prompt", "max_age", "login_hint", "ui_locales",
        "id_token_hint",
    ]
    private static let signOutParameters: [Operation.Parameter] = [
        "client_id", "id_token_hint", "post_logout_redirect_uri", "state",
    ]

    static let authorize = Self(
        "authorize",
        "Begins or answers an authorization request of an application",
        query: authorizeParameters,
        needsKeys: true,
        credentials: .token(isRequired: false)
    )
    static let authorizeForm = Self(
        "authorizeForm",
        "Redirects the browser to the same authorization request by GET",
        body: .parameters(authorizeParameters),
        needsKeys: true
    )
    static let continueAuthorization = Self(
        "continueAuthorization",
        "Continues an authorization request after the person has signed in or up",
        query: [.required("request"), "sign-up", "recover"],
        problems: [.notFound],
        needsKeys: true,
        credentials: .token(isRequired: false)
    )
    static let applicationSignOut = Self(
        "applicationSignOut",
        "Signs out for an application; asks first unless the id_token_hint belongs to the session",
        query: signOutParameters,
        needsKeys: true,
        credentials: .token(isRequired: false)
    )
    static let applicationSignOutForm = Self(
        "applicationSignOutForm",
        "Redirects the browser to the same sign-out by GET",
        body: .parameters(signOutParameters),
        needsKeys: true
    )
}
