import Accounts
import HTTPTypes
import Hummingbird
import ServiceLifecycle

/// The table of all routes, and the handler of requests made from it.
struct Routes: Sendable {
    let sessions: Sessions
    let database: Database
    let publicURL: String
    let allowedOrigins: Set<String>
    /// The flow that signs people up.
    let signup: FlowSite
    /// The flows that change an account.
    let changes: [FlowSite]
    let proxies: Proxies
    let shutdown: ShutdownSignal
    /// The reason why the keys of this server do not fit the database; nil if they do.
    let keyMismatch: KeyMismatch?
    /// The applications; nil if the service has none. Without applications, the paths for them do not exist. The path
    /// of the signing keys also exists for forward authentication.
    let applications: ApplicationRegistry?
    private let provider: Provider?
    private let signingKeys: SigningKeys
    let patience: Patience
    /// The hosts and keys of forward authentication; nil if it is not configured. If nil, its paths do not exist.
    let forwardAuth: ForwardAuth?
    private let documents = Documents()
    /// Limits how many requests of each client are being answered at the same time.
    private let clientLimiter = ConcurrencyLimiter(perClient: 50)

    init(
        signups: Signups,
        sessions: Sessions? = nil,
        database: Database,
        publicURL: String,
        allowedOrigins: Set<String>,
        trustedProxies: [IPBlock] = [],
        assets: Assets = .builtIn,
        shutdown: ShutdownSignal = ShutdownSignal(),
        keyMismatch: KeyMismatch? = nil,
        applications: ApplicationRegistry? = nil,
        patience: Patience = Patience(),
        forwardAuth: ForwardAuth? = nil,
        afterSignupURL: String? = nil
    ) {
        self.sessions = sessions ?? Sessions(signups: signups)
        self.database = database
        self.publicURL = publicURL
        self.allowedOrigins = allowedOrigins
        self.shutdown = shutdown
        self.keyMismatch = keyMismatch
        self.applications = applications
        self.patience = patience
        self.forwardAuth = forwardAuth
        let isSecure = publicURL.hasPrefix("https://")
        let (sessions, keys) = (self.sessions, forwardAuth?.keys ?? SigningKeys(database: database, keys: signups.keys))
        signingKeys = keys
        provider = applications.map { applications in
            Provider(sessions: sessions, registry: applications, signingKeys: keys, issuer: publicURL)
        }
        signup = FlowSite(
            signups,
            isSecure: isSecure,
            assets: assets,
            provider: provider,
            sessions: sessions,
            hosts: forwardAuth?.hosts,
            afterSignupURL: afterSignupURL
        )
        changes = signups.flow.changes.map { [provider] flow in
            FlowSite(
                signups.following(flow),
                isSecure: isSecure,
                assets: assets,
                provider: provider,
                hosts: forwardAuth?.hosts
            )
        }
        proxies = Proxies(trusted: trustedProxies)
    }

    var sites: [FlowSite] { [signup] + changes }
    var signups: Signups { signup.signups }
    var pages: Pages { signup.pages }
    var representations: Representations { signup.representations }
    private var cookies: SessionCookies { signup.sessionCookies }
    private var languages: LanguageChoice {
        LanguageChoice(
            languages: signups.flow.languages,
            isSecure: publicURL.hasPrefix("https://"),
            sites: sites.map(\.purpose)
        )
    }
    private var session: SessionRoutes {
        SessionRoutes(sessions: sessions, representations: representations, cookies: cookies)
    }
    private var handoff: HandoffRoutes { signup.handoff }
    private var account: AccountRoutes {
        AccountRoutes(
            sessions: sessions,
            representations: representations,
            cookies: cookies,
            uploads: signup.uploads
        )
    }
    private var signInPages: SignInPages {
        SignInPages(
            session: session,
            account: account,
            pages: pages,
            emailChange: changes.first { $0.purpose == .emailChange }
                .map { EmailChangeRoutes(site: $0, sessions: sessions) },
            returnTargets: ReturnTargets(hosts: forwardAuth?.hosts, provider: provider)
        )
    }
    private var photo: PhotoRoutes { PhotoRoutes(signups: signups, uploads: signup.uploads) }
    private var problems: ProblemRoutes { ProblemRoutes() }
    private var health: HealthRoutes {
        HealthRoutes(database: database, shutdown: shutdown, keyMismatch: keyMismatch, patience: patience.readiness)
    }
    private var document: DocumentRoutes {
        DocumentRoutes(representations: representations, documents: documents) { description }
    }

    private var forwardAuthRoutes: ForwardAuthRoutes? {
        forwardAuth.map { forwardAuth in
            ForwardAuthRoutes(
                sessions: sessions,
                forwardAuth: forwardAuth,
                publicURL: publicURL,
                cookie: cookies.session,
                ownCookies: Set(
                    ([cookies.session, cookies.device, cookies.recoveryCodes, languages.cookie]
                        + sites.map(\.cookie)).map(\.name)
                )
            )
        }
    }

    /// All operations. Each type with handlers lists its own.
    var operations: [Operation] {
        signup.signupRoutes.operations + handoff.operations + signup.tickets.operations
            + signup.signupRoutes.stepOperations
            + AuthenticatorStepRoutes(site: signup).operations
            + photo.operations
            + changes.flatMap { operations(of: $0) }
            + session.operations + account.operations + ExportRoutes(sessions: account.sessions).operations
            + signInPages.operations + LanguageRoutes(choice: languages, sites: sites).operations
            + AuthenticatorPages(pages: pages, signIn: signInPages, account: account).operations + document.operations
            + problems.operations + health.operations + handOverOperations
    }

    /// The operations for applications and proxies.
    private var handOverOperations: [Operation] {
        var operations: [Operation] = []
        if provider != nil || forwardAuth != nil { operations += SigningKeyRoutes(keys: signingKeys).operations }
        if let forwardAuthRoutes { operations += forwardAuthRoutes.operations }
        if let provider {
            operations +=
                ProviderRoutes(provider: provider).operations
                + AuthorizePages(
                    provider: provider,
                    session: session,
                    signup: signup,
                    recovery: changes.first { $0.purpose == .recovery }
                ).operations
                + EventRoutes(applications: provider.registry, database: database).operations
        }
        return operations
    }

    private func operations(of site: FlowSite) -> [Operation] {
        let own =
            site.purpose == .emailChange
            ? EmailChangeRoutes(site: site, sessions: sessions).operations : site.tickets.operations
        return site.signupRoutes.operations + own + site.signupRoutes.stepOperations
    }

    /// The OpenAPI description of all operations.
    var description: JSON {
        OpenAPI(
            sites: sites,
            operations: operations,
            publicURL: publicURL,
            sessionCookie: cookies.session
        ).document
    }
}

// MARK: - The router

extension Routes {
    /// The handler of all requests.
    func responder() -> some HTTPResponder<RequestScope> { RequestTask(responder: router().buildResponder()) }

    private func router() -> Router<RequestScope> {
        let router = Router(context: RequestScope.self, options: .autoGenerateHeadEndpoints)
        let applicationCORS = ApplicationCORS(applications: applications)
        let operations = operations
        let paths = operations.map(\.path) + pages.assets.files.map(\.path)
        let firstSegments = Set(paths.compactMap { $0.split(separator: "/").first })
        // Middleware, the outermost first.
        router.add(middleware: CORS(allowedOrigins: allowedOrigins, applications: applicationCORS))
        router.add(middleware: securityHeaders)
        router.add(middleware: RequestLog(signups: signups, proxies: proxies, firstSegments: firstSegments))
        router.add(
            middleware: ProblemMiddleware(
                publicURL: publicURL,
                sites: sites,
                languages: languages
            )
        )
        router.add(middleware: RequestDeadline(patience: patience))
        router.add(middleware: URILimit())
        router.add(middleware: CORSPreflight(allowedOrigins: allowedOrigins, applications: applicationCORS))
        for operation in operations { add(operation, to: router) }
        let pagePaths = Set(operations.filter { $0.method == .get && $0.hasPages }.map(\.path))
        for (path, siblings) in Dictionary(grouping: operations, by: \.path) {
            refuseOtherMethods(than: siblings.flatMap(\.methods), at: path, below: pagePaths, on: router)
        }
        forwardAuthRoutes?
            .answerRepeatedRequests(on: router.group().add(middleware: KeyCheck(keyMismatch: keyMismatch)))
        for asset in pages.assets.files {
            router.get(RouterPath(asset.path)) { request, _ in
                asset.response(acceptEncoding: request.headers[.acceptEncoding])
            }
        }
        return router
    }

    var securityHeaders: SecurityHeaders { SecurityHeaders(publicURL: publicURL) }

    /// Adds the operation with its checks to the router. Cheap checks run first. All checks run before the draft or the
    /// session is looked up in the database.
    private func add(_ operation: Operation, to router: Router<RequestScope>) {
        let group = router.group()
        let site = sites.first { $0.purpose == operation.flow } ?? signup
        if operation.isNegotiated { group.add(middleware: Negotiation(hasPages: operation.hasPages)) }
        if !operation.act.isHealth {
            let cookie = operation.readsSession ? cookies.session : site.cookie
            let limiter = operation.act == .checkSession ? nil : clientLimiter
            group.add(middleware: ClientLimit(proxies: proxies, limiter: limiter))
            group.add(middleware: TokenReader(cookie: cookie))
        }
        if operation.checksOrigin {
            let publicOrigin = ApplicationURIRules.origin(of: publicURL) ?? publicURL
            group.add(middleware: OriginCheck(publicOrigin: publicOrigin, allowedOrigins: allowedOrigins))
        }
        if operation.needsKeys { group.add(middleware: KeyCheck(keyMismatch: keyMismatch)) }
        if operation.needsStep { group.add(middleware: StepLookup(steps: operation.steps(of: site.signups.flow))) }
        if operation.needsField { group.add(middleware: FieldLookup()) }
        let secretMembers = site.signups.flow.secretMembers
        switch operation.act.body {
        case .none, .parameters: break
        case .members where operation.act == .start:
            // The page that starts a draft shows the first step, so its form also sends the answers to that step.
            group.add(middleware: FirstStepLookup(step: site.firstStep))
            group.add(middleware: BodyReader(secretMembers: secretMembers, isRequired: false, takesFiles: true))
        case .members(_, let isRequired, let secretMembers):
            group.add(middleware: BodyReader(secretMembers: secretMembers, isRequired: isRequired))
        case .form(let secretMembers):
            group.add(middleware: BodyReader(secretMembers: secretMembers, isRequired: false))
        case .answers, .edits: group.add(middleware: BodyReader(secretMembers: secretMembers, takesFiles: true))
        case .someAnswers: group.add(middleware: BodyReader(secretMembers: secretMembers))
        case .image: group.add(middleware: ImageCheck())
        }
        let lookup = DraftLookup(signups: site.signups)
        let (path, method, act) = (RouterPath(operation.path), operation.method, operation.act)
        switch operation.handler {
        case .plain(let handle), .application(let handle):
            group.on(path, method: method, use: handle)
        case .open(let handle):
            group.on(path, method: method) { request, context in
                context.representation == .page
                    ? try await site.page(act, request, context, handle)
                    : try await handle(request, context).response
            }
        case .signIn(let handle):
            group.on(path, method: method) { try await handle($0, $1).response }
        case .signInPage(let handle):
            group.on(path, method: method, use: handle)
        case .session(let handle):
            group.add(middleware: SessionLookup(sessions: sessions)).group(context: SessionContext.self)
                .on(path, method: method) { request, context in
                    if context.representation == .page, operation.hasPages {
                        return try await signInPages.page(act, request, context, handle)
                    }
                    return try await signup.uploads.withAnswers(of: request, context) {
                        try await handle(request, $0).response
                    }
                }
        case .draft(let handle):
            group.add(middleware: lookup).group(context: DraftContext.self).on(path, method: method) {
                request,
                context in
                context.representation == .page
                    ? try await site.page(act, request, context, handle)
                    : try await handle(request, context).response
            }
        case .step(let handle):
            group.add(middleware: lookup).group(context: StepContext.self).on(path, method: method) {
                request,
                context in
                if context.representation == .page { return try await site.page(act, request, context, handle) }
                guard let form = context.formWithFiles else { return try await handle(request, context).response }
                return try await site.uploads.withAnswers(in: form, of: request, context) {
                    try await handle(request, $0).response
                }
            }
        case .field(let handle):
            group.add(middleware: lookup).group(context: FieldContext.self).on(path, method: method, use: handle)
        }
    }

    /// Answers every method of HTTP at the path that is not in `methods` with 405. If GET and HEAD are not in `methods`,
    /// redirects a browser that sends one of them to the nearest page above the path instead. A phone sends GET when it
    /// restores a tab that shows the answer to a form.
    ///
    /// - Parameter pagePaths: the paths of all pages.
    private func refuseOtherMethods(
        than methods: [HTTPRequest.Method],
        at path: String,
        below pagePaths: Set<String>,
        on router: Router<RequestScope>
    ) {
        let parents = sequence(first: path) { String($0[..<($0.lastIndex(of: "/") ?? $0.startIndex)]) }.prefix(8)
        let depth = Array(parents).firstIndex(where: pagePaths.contains)
        let all: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .patch, .options, .trace, .connect]
        let allow = methods.map(\.rawValue).joined(separator: ", ")
        for method in all where !methods.contains(method) {
            router.on(RouterPath(path), method: method) { request, context -> Response in
                if let depth, context.representation == .page, method == .get || method == .head {
                    return Pages.seeOther(
                        request.uri.path.split(separator: "/").dropLast(depth).map { "/\($0)" }.joined()
                    )
                }
                throw Problem(
                    .methodNotAllowed,
                    "The path does not support this method. Use \(allow).",
                    headers: [.allow: allow]
                )
            }
        }
    }
}
