import Accounts
import HTTPTypes
import Hummingbird
import HummingbirdCore
import ServiceLifecycle

/// The paths of the service, in the order in which a person meets them.
struct Routes: Sendable {
    let signups: Signups
    let database: Database
    let publicURL: String
    let pages: Pages
    let session: Session
    let origins: Origins
    let proxies: Proxies
    private let shutdown: ShutdownSignal
    let uploads: Uploads
    private let documents = Documents()

    init(
        signups: Signups,
        database: Database,
        publicURL: String,
        allowedOrigins: Set<String>,
        trustedProxies: [IPBlock] = [],
        assets: Assets = .builtIn,
        shutdown: ShutdownSignal = ShutdownSignal()
    ) {
        self.signups = signups
        self.database = database
        self.publicURL = publicURL
        pages = Pages(signups: signups, assets: assets)
        self.shutdown = shutdown
        uploads = Uploads(secretMembers: signups.flow.secretMembers)
        session = Session(isSecure: publicURL.hasPrefix("https://"))
        proxies = Proxies(trusted: trustedProxies)
        origins = Origins(own: publicURL, allowed: allowedOrigins)
    }

    var bodies: Representations { Representations(signups: signups) }

    func router() -> Router<RequestScope> {
        let router = Router(context: RequestScope.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: edge)
        let operations = operations
        for operation in operations { add(operation, to: router) }
        for (path, siblings) in Dictionary(grouping: operations, by: \.path) {
            refuseOtherMethods(than: siblings.flatMap(\.methods), at: path, on: router)
        }
        for asset in [pages.assets.styles, pages.assets.script] {
            router.get(RouterPath(asset.path)) { _, _ in asset.response }
        }
        return router
    }

    private var edge: Edge {
        Edge(
            publicURL: publicURL,
            pages: pages,
            languages: signups.flow.languages,
            proxies: proxies,
            origins: origins,
            shutdown: shutdown,
            meters: signups.meters
        )
    }

    /// The server for these routes on plain HTTP/1.1, which a proxy stands before.
    func server(within limits: ConnectionLimits = ConnectionLimits()) -> HTTPServerBuilder {
        let edge = edge
        let clients = ClientConnections(maximum: limits.connectionsOfClient, behind: proxies)
        return .http1(
            configuration: .init(
                additionalChannelHandlers: [
                    ConnectionGuard(limits: limits, clients: clients, shutdown: shutdown, refusal: edge.answer)
                ],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: limits.headerBytes,
                    maxHeaderListSize: limits.headerBytes,
                    maxHeaderFieldCount: limits.headerCount
                )
            )
        )
    }

    /// Everything that a client may ask for, in the order in which a person meets it.
    var operations: [Operation] {
        [
            .init(.post, "signup", .start, gives: [.created: .draft, .ok: .draft], by: .anyone(start)),
            .init(.get, "signup", .show, gives: [.ok: .draft], by: .draft(show)),
            .init(.delete, "signup", .cancel, gives: [.noContent: .nothing], by: .draft(cancel)),
            .init(.get, "signup/cancel", .askToCancel, gives: [.ok: .draft], by: .draft(askToCancel)),
            .init(.post, "signup/cancel", .cancelForm, gives: [.noContent: .nothing], by: .draft(cancel)),
            .init(.get, "signup/schema", .schema, gives: [.ok: .flow, .notModified: .nothing], by: .anybody(schema)),
            .init(.get, "signup/review", .review, gives: [.ok: .review], by: .draft(review)),
            .init(.post, "signup/commit", .commit, gives: [.created: .account, .ok: .account], by: .draft(commit)),
            .init(.post, "signup/handoff", .handOff, gives: [.accepted: .handoff], by: .draft(handOff)),
            .init(.get, "signup/resume", .askToResume, gives: [.ok: .page, .gone: .page], by: .anybody(askToResume)),
            .init(.post, "signup/resume", .resume, gives: [.ok: .draft], by: .anyone(resume)),
            .init(.get, "signup/:step", .showStep, gives: [.ok: .step], by: .step(showStep)),
            .init(.put, "signup/:step", .submit, gives: [.ok: .draft], by: .step(submit)),
            .init(.post, "signup/:step", .submitForm, gives: [.ok: .draft], by: .step(submit)),
            .init(.delete, "signup/:step", .clear, gives: [.ok: .draft], by: .step(clear)),
            .init(.post, "signup/:step/check", .check, gives: [.ok: .check], by: .step(check)),
            .init(.post, "signup/:step/resend", .resend, gives: [.accepted: .resend], by: .step(resend)),
            .init(.get, "signup/:step/:field", .showPhoto, gives: [.ok: .image], by: .field(showPhoto)),
            .init(.put, "signup/:step/:field", .putPhoto, gives: [.noContent: .nothing], by: .field(putPhoto)),
            .init(.delete, "signup/:step/:field", .removePhoto, gives: [.noContent: .nothing], by: .field(removePhoto)),
            .init(
                .post,
                "signup/:step/:field/remove",
                .removePhotoForm,
                gives: [.noContent: .nothing],
                by: .field(removePhoto)
            ),
            .init(
                .get,
                "openapi.json",
                .openAPI,
                gives: [.ok: .anything, .notModified: .nothing],
                by: .anybody(openAPI)
            ),
            .init(.get, "health/live", .live, gives: [.ok: .health], by: .anybody(live)),
            .init(.get, "health/ready", .ready, gives: [.ok: .health], by: .anybody(ready)),
        ]
    }

    /// The cheap checks come first, and all of them before anybody asks the database.
    private func add(_ operation: Operation, to router: Router<RequestScope>) {
        let group = router.group()
        if operation.isNegotiated {
            group.add(middleware: Negotiator(hasPages: operation.hasPages))
        }
        if !operation.act.isHealth {
            group.add(middleware: OriginGuard(origins: origins, session: session))
        }
        if operation.isOfStep { group.add(middleware: StepFinder(flow: signups.flow)) }
        if operation.isOfField { group.add(middleware: FieldFinder()) }
        switch operation.act.body {
        case .none: break
        case .start: group.add(middleware: BodyReader(secretMembers: [], isRequired: false))
        case .resume: group.add(middleware: BodyReader(secretMembers: []))
        case .answers:
            group.add(middleware: UploadDoor(isForImages: false))
            group.add(middleware: BodyReader(secretMembers: secretMembers))
        case .someAnswers: group.add(middleware: BodyReader(secretMembers: secretMembers))
        case .image: group.add(middleware: UploadDoor(isForImages: true))
        }
        let path = RouterPath(operation.path)
        switch operation.handler {
        case .anybody(let handle):
            group.on(path, method: operation.method, use: handle)
        case .anyone(let handle):
            group.on(path, method: operation.method) { request, context in
                guard context.representation == .page else { return try await handle(request, context).response }
                do {
                    return try await pages.response(to: operation.act, handle(request, context), in: context.language)
                } catch let problem as Problem where operation.act == .resume && problem.slug == .validationFailed {
                    var page = pages.resume(nil, of: nil, in: context.language)
                    page.status = problem.slug.status
                    return pages.response(page, in: context.language)
                }
            }
        case .draft(let handle):
            group.add(middleware: finder).group(context: DraftContext.self)
                .on(path, method: operation.method) { request, context in
                    try await show(operation.act, to: context) { try await handle(request, context) }
                }
        case .field(let handle):
            group.add(middleware: finder).group(context: FieldContext.self)
                .on(path, method: operation.method, use: handle)
        case .step(let handle):
            group.add(middleware: finder).group(context: StepContext.self)
                .on(path, method: operation.method) { request, context in
                    try await show(operation.act, of: request, to: context) { try await handle(request, $0) }
                }
        }
    }

    private var finder: DraftFinder { DraftFinder(signups: signups) }
    private var secretMembers: Set<String> { signups.flow.secretMembers }

    private func refuseOtherMethods(
        than methods: [HTTPRequest.Method],
        at path: String,
        on router: Router<RequestScope>
    ) {
        let all: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .patch, .options, .trace, .connect]
        let allow = methods.map(\.rawValue).joined(separator: ", ")
        for method in all where !methods.contains(method) {
            router.on(RouterPath(path), method: method) { _, _ -> Response in
                throw Problem(.methodNotAllowed, "Use \(allow).", headers: [.allow: allow])
            }
        }
    }
}

// MARK: - The sign-up

extension Routes {
    /// Begins a sign-up, or goes on with the one that the token belongs to.
    @Sendable private func start(_ request: Request, _ context: RequestScope) async throws -> Answer {
        let wish = try StartWish(context.answers, in: context.language, of: signups.flow.languages)
        if let draft = try await openDraft(of: context.credentials.token) { return answer(draft) }
        let (draft, token) = try await acting { () throws(StartError) in
            try await signups.from(context.network).start(in: wish.language)
        } problem: {
            try Problem($0)
        }
        var answer = answer(draft, with: token, isBearer: wish.isBearer, status: .created)
        answer.headers[.location] = "/signup"
        return answer
    }

    /// The draft that the token opens and that is not committed yet. A database that is away is no reason to begin
    /// another, whose cookie would hide this one.
    private func openDraft(of token: Token?) async throws -> Draft? {
        guard let token else { return nil }
        do throws(FindError) {
            let draft = try await signups.find(token)
            return draft.account == nil ? draft : nil
        } catch {
            if case .database(let error) = error { throw try Problem(error) }
            return nil
        }
    }

    @Sendable private func show(_ request: Request, _ context: DraftContext) async throws -> Answer {
        guard let id = context.draft.account else { return answer(context.draft) }
        let account = try await acting { () throws(DatabaseError) in
            try await signups.account(id)
        } problem: {
            try Problem($0)
        }
        return answer(context.draft, account: account)
    }

    @Sendable private func cancel(_ request: Request, _ context: DraftContext) async throws -> Answer {
        let revision = try expectedRevision(of: request, context.draft)
        try await acting { () throws(CancelError) in
            try await signups.cancel(context.draft, at: revision)
        } problem: {
            try Problem($0, current)
        }
        return Answer(status: .noContent, headers: [.setCookie: session.clearCookie])
    }

    /// Asks a browser without script whether to give the sign-up up.
    @Sendable private func askToCancel(_ request: Request, _ context: DraftContext) async throws -> Answer {
        if context.draft.account != nil { throw Problem.committed }
        return answer(context.draft)
    }

    @Sendable func showStep(_ request: Request, _ context: StepContext) async throws -> Answer {
        if context.draft.account != nil { throw Problem.committed }
        let standing = signups.standing(of: context.draft)
        if standing.states[context.step.name] == .locked { throw Problem.locked(standing.next) }
        let enrolment = try await acting { () throws(DatabaseError) in
            try await signups.enrolment(at: context.step, of: context.draft)
        } problem: {
            try Problem($0)
        }
        return tagged(Answer(json: bodies.step(context.step, of: context.draft, enrolment)), context.draft)
    }

    @Sendable private func submit(_ request: Request, _ context: StepContext) async throws -> Answer {
        let revision = try expectedRevision(of: request, context.draft)
        let outcome = try await acting { () throws(SubmitError) in
            try await signups.from(context.network).submit(
                context.answers,
                to: context.step,
                of: context.draft,
                at: revision
            )
        } problem: {
            try Problem($0, in: context.language, current)
        }
        return answer(outcome.draft, cleared: outcome.cleared, recoveryCodes: outcome.recoveryCodes)
    }

    @Sendable private func check(_ request: Request, _ context: StepContext) async throws -> Answer {
        let verdict = try await acting { () throws(CheckError) in
            try await signups.check(context.answers, on: context.step, of: context.draft)
        } problem: {
            try Problem($0)
        }
        return Answer(json: [
            "valid": .bool(verdict.refusals.isEmpty),
            "errors": .array(verdict.refusals.map { $0.json(in: context.language) }),
            "written": .object(verdict.written.map { .init($0.field.rawValue, .string($0.text)) }),
        ])
    }

    @Sendable private func clear(_ request: Request, _ context: StepContext) async throws -> Answer {
        let revision = try expectedRevision(of: request, context.draft)
        let outcome = try await acting { () throws(SubmitError) in
            try await signups.clear(context.step, of: context.draft, at: revision)
        } problem: {
            try Problem($0, in: context.language, current)
        }
        return answer(outcome.draft, cleared: outcome.cleared)
    }

    @Sendable private func resend(_ request: Request, _ context: StepContext) async throws -> Answer {
        let revision = try expectedRevision(of: request, context.draft)
        let wait = try await acting { () throws(ResendError) in
            try await signups.from(context.network).resend(context.step, of: context.draft, at: revision)
        } problem: {
            try Problem($0, in: context.language, current)
        }
        return Answer(json: ["resend_after": .integer(wait.seconds)], status: .accepted)
    }

    @Sendable private func review(_ request: Request, _ context: DraftContext) async throws -> Answer {
        if context.draft.account != nil { throw Problem.committed }
        return tagged(Answer(json: bodies.review(context.draft)), context.draft)
    }

    @Sendable private func commit(_ request: Request, _ context: DraftContext) async throws -> Answer {
        let revision = try expectedRevision(of: request, context.draft)
        let (account, isNew) = try await acting { () throws(CommitError) in
            try await signups.from(context.network).commit(context.draft, at: revision)
        } problem: {
            try Problem($0, current)
        }
        return Answer(json: ["account": bodies.account(account)], status: isNew ? .created : .ok)
    }
}

// MARK: - On another device

extension Routes {
    @Sendable private func handOff(_ request: Request, _ context: DraftContext) async throws -> Answer {
        let revision = try expectedRevision(of: request, context.draft)
        try await acting { () throws(HandoffError) in
            try await signups.from(context.network).handOff(context.draft, at: revision)
        } problem: {
            try Problem($0, current)
        }
        return Answer(
            json: [
                "resend_after": .integer(Signups.handoffPause.seconds),
                "expires_in": .integer(Signups.handoffLifetime.seconds),
            ],
            status: .accepted
        )
    }

    /// Where the link in the mail leads. Programs that look through mail open links, so this changes nothing, and always
    /// answers a page.
    @Sendable private func askToResume(_ request: Request, _ context: RequestScope) async throws -> Response {
        guard let link = request.uri.queryParameters["code"].flatMap({ Token(String($0)) }) else {
            throw Problem(.notFound, "The link is not whole.")
        }
        let address = try await acting { () throws(FindError) in
            try await signups.addressBehind(link)
        } problem: {
            try Problem($0)
        }
        return pages.response(pages.resume(link, of: address, in: context.language), in: context.language)
    }

    @Sendable private func resume(_ request: Request, _ context: RequestScope) async throws -> Answer {
        let wish = try ResumeWish(context.answers, in: context.language)
        let (draft, token) = try await acting { () throws(ResumeError) in
            try await signups.from(context.network).resume(wish.link)
        } problem: {
            try Problem($0, in: context.language)
        }
        return answer(draft, with: token, isBearer: wish.isBearer, status: .ok)
    }
}

// MARK: - The description of the flow, and of all this

extension Routes {
    @Sendable private func schema(_ request: Request, _ context: RequestScope) async throws -> Response {
        let document = documents.document("schema \(context.language.rawValue)") { bodies.schema(in: context.language) }
        var response = document.response(unlessHeldBy: request)
        response.headers[.contentLanguage] = context.language.rawValue
        return response
    }

    @Sendable private func openAPI(_ request: Request, _ context: RequestScope) async throws -> Response {
        documents.document("openapi") { description }.response(unlessHeldBy: request)
    }

    var description: JSON {
        OpenAPI(signups: signups, operations: operations, publicURL: publicURL, session: session).document
    }
}

// MARK: - Health

extension Routes {
    /// The process answers.
    @Sendable private func live(_ request: Request, _ context: RequestScope) async throws -> Response {
        Response(json: ["status": "live"])
    }

    /// The service can do its work, and is not about to stop.
    @Sendable private func ready(_ request: Request, _ context: RequestScope) async throws -> Response {
        let isStopping = shutdown.isUnderWay
        guard !isStopping, await database.isUp else {
            throw Problem(
                .unavailable,
                isStopping ? "The server is stopping." : "The database is away.",
                headers: [.retryAfter: "1"]
            )
        }
        return Response(json: ["status": "ready"])
    }
}

// MARK: - What the handlers share

extension Routes {
    private func answer(
        _ draft: Draft,
        cleared: [FieldName] = [],
        recoveryCodes: [RecoveryCode] = [],
        account: Account? = nil,
        token: Token? = nil,
        status: HTTPResponse.Status = .ok
    ) -> Answer {
        let body = bodies.draft(draft, cleared: cleared, recoveryCodes: recoveryCodes, account: account, token: token)
        return tagged(Answer(json: body, status: status), draft)
    }

    /// To somebody who gets a token with it.
    private func answer(
        _ draft: Draft,
        with token: Token,
        isBearer: Bool,
        status: HTTPResponse.Status
    ) -> Answer {
        var answer = answer(draft, token: isBearer ? token : nil, status: status)
        if !isBearer { answer.headers[.setCookie] = session.setCookie(token) }
        return answer
    }

    /// How a refusal shows the draft as it is now.
    func current(_ draft: Draft) -> JSON { bodies.draft(draft) }

    func tagged(_ answer: Answer, _ draft: Draft) -> Answer {
        var answer = answer
        answer.headers[.eTag] = "\"\(draft.revision)\""
        return answer
    }

    /// The revision that `If-Match` insists on (RFC 9110 §13.1.1): nil for none or `*`, and one that never was where
    /// none of several is the present one.
    func expectedRevision(of request: Request, _ draft: Draft) throws -> Int? {
        guard let field = request.headers[.ifMatch] else { return nil }
        if field == "*" { return nil }
        let tags = field.split(separator: ",").map { $0.trimmingWhitespace() }
        let isTag: (Substring) -> Bool = { $0.count >= 2 && $0.hasPrefix("\"") && $0.hasSuffix("\"") }
        guard !tags.isEmpty, tags.allSatisfy({ isTag($0.trimmingPrefix("W/")) }) else {
            throw Problem(.malformedRequest, "If-Match names no entity tag.")
        }
        // A weak tag is well formed, but never strong enough to match.
        let revisions = tags.filter(isTag).compactMap { Int($0.dropFirst().dropLast()) }
        return revisions.contains(draft.revision) ? draft.revision : revisions.first ?? -1
    }

    /// Runs an act and turns its own error into what the client should see.
    func acting<Result, Failure: Error>(
        _ act: () async throws(Failure) -> Result,
        problem: (Failure) throws -> Problem
    ) async throws -> Result {
        do throws(Failure) { return try await act() } catch { throw try problem(error) }
    }
}

/// What a client may say when it gets a token.
private struct TokenWish {
    let isBearer: Bool
    var refusals: [Refusal]

    init(_ body: JSON, besides others: Set<FieldName>) {
        guard case .object(let members) = body else { preconditionFailure("a body is an object") }
        let unknown = members.map { FieldName($0.name) }.filter { $0 != "transport" && !others.contains($0) }
        refusals = unknown.prefix(Refusal.mostUnknown).map { Refusal($0, .unknownField) }
        let transport = body["transport"] ?? "cookie"
        if transport != "cookie", transport != "bearer" { refusals.append(Refusal("transport", .notAllowed)) }
        isBearer = transport == "bearer"
    }
}

/// What a client may say when it goes on with a sign-up of another device.
private struct ResumeWish {
    let isBearer: Bool
    let link: Token

    init(_ body: JSON, in language: Language) throws {
        var wish = TokenWish(body, besides: ["code"])
        let link = body["code"]?.string.flatMap { Token($0) }
        if link == nil { wish.refusals.append(Refusal("code", body["code"] == nil ? .required : .badFormat)) }
        guard wish.refusals.isEmpty, let link else { throw Problem.refused(wish.refusals, in: language) }
        isBearer = wish.isBearer
        self.link = link
    }
}

/// What a client may say when it begins.
private struct StartWish {
    let isBearer: Bool
    let language: Language

    init(_ body: JSON, in negotiated: Language, of spoken: [Language]) throws {
        var wish = TokenWish(body, besides: ["locale"])
        let locale = body["locale"] ?? .null
        if locale != .null, locale.string == nil {
            wish.refusals.append(Refusal("locale", .wrongType, ["expected": "string"]))
        }
        if !wish.refusals.isEmpty { throw Problem.refused(wish.refusals, in: negotiated) }
        isBearer = wish.isBearer
        let wished = locale.string.flatMap(Language.init(tag:))
        language = wished.flatMap { spoken.contains($0) ? $0 : nil } ?? negotiated
    }
}
