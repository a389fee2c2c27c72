import Accounts
import HTTPTypes
import Hummingbird

/// The handlers that sign people in and out.
struct SessionRoutes: Sendable {
    let sessions: Sessions
    let representations: Representations
    let cookies: SessionCookies

    // MARK: Signing in

    @Sendable func signIn(_ request: Request, _ context: RequestScope) async throws -> Answer {
        var body = SignInBody(context.answers, members: ["identifier", "password", "keep"])
        let (identifier, password) = (body.text("identifier"), body.secret("password"))
        let isKept = body.flag("keep")
        let typed = try body.checked(identifier, in: context.language)
        let progress = try await sessions(for: request, context, body).signIn(
            as: SignInIdentifier(typed),
            with: body.checked(password, in: context.language),
            isKept: isKept,
            replacing: context.credentials.token(of: AccountSession.self)
        )
        return try await answer(progress, isBearer: body.isBearer, status: .created)
    }

    @Sendable func enterTOTP(_ request: Request, _ context: RequestScope) async throws -> Answer {
        var body = SignInBody(context.answers, members: ["code"])
        let code = body.digits("code", TOTP.digits)
        return try await enter(.totp(body.checked(code, in: context.language)), body, request, context)
    }

    @Sendable func enterRecoveryCode(_ request: Request, _ context: RequestScope) async throws -> Answer {
        var body = SignInBody(context.answers, members: ["code"])
        let code = body.recoveryCode("code")
        return try await enter(.recoveryCode(body.checked(code, in: context.language)), body, request, context)
    }

    private func enter(
        _ factor: SecondFactor,
        _ body: SignInBody,
        _ request: Request,
        _ context: RequestScope
    ) async throws -> Answer {
        let token = try pendingToken(context)
        let new = try await sessions(for: request, context, body).enter(factor, for: token)
        return try await answer(.session(new), isBearer: context.credentials.isBearerOnly)
    }

    @Sendable func mailCode(_ request: Request, _ context: RequestScope) async throws -> Answer {
        var body = SignInBody(context.answers, members: ["identifier"])
        let identifier = body.text("identifier")
        let pending = try await sessions(for: request, context, body).mailCode(
            to: SignInIdentifier(body.checked(identifier, in: context.language)),
            in: context.language,
            replacing: context.credentials.token(of: AccountSession.self)
        )
        return try await answer(.pending(pending), isBearer: body.isBearer, status: .created)
    }

    @Sendable func redeemTicket(_ request: Request, _ context: RequestScope) async throws -> Answer {
        var body = SignInBody(context.answers, members: ["ticket"])
        let ticket = body.ticket("ticket")
        let pending = try await sessions(for: request, context, body).mailCode(
            for: body.checked(ticket, in: context.language),
            in: context.language,
            replacing: context.credentials.token(of: AccountSession.self)
        )
        return try await answer(.pending(pending), isBearer: body.isBearer, status: .created)
    }

    @Sendable func enterCode(_ request: Request, _ context: RequestScope) async throws -> Answer {
        var body = SignInBody(context.answers, members: ["code"])
        let code = body.digits("code", Sessions.digits)
        let digits = try body.checked(code, in: context.language)
        let token = try pendingToken(context)
        let progress = try await sessions(for: request, context, body).enterCode(digits, for: token)
        return try await answer(progress, isBearer: context.credentials.isBearerOnly)
    }

    @Sendable func confirm(_ request: Request, _ context: RequestScope) async throws -> Answer {
        var body = SignInBody(context.answers, members: ["password", "code", "recovery_code"])
        let confirmation: Reauthentication?
        if body.has("code") {
            confirmation = body.digits("code", TOTP.digits).map { .secondFactor(.totp($0)) }
        } else if body.has("recovery_code") {
            confirmation = body.recoveryCode("recovery_code").map { .secondFactor(.recoveryCode($0)) }
        } else {
            confirmation = body.secret("password").map { .password($0) }
        }
        let checked = try body.checked(confirmation, in: context.language)
        guard let token = context.credentials.token(of: AccountSession.self) else { throw Problem.noSession }
        let new = try await sessions(for: request, context, body).confirm(token, by: checked)
        return try await answer(.session(new), isBearer: context.credentials.isBearerOnly)
    }

    private func pendingToken(_ context: RequestScope) throws -> Token<PendingSignIn> {
        guard let token = context.credentials.token(of: PendingSignIn.self) else { throw Problem.noSession }
        return token
    }

    private func sessions(for request: Request, _ context: RequestScope, _ body: SignInBody) -> Sessions {
        sessions.from(context.network, cookies.client(of: request, device: body.device))
    }

    private func answer(
        _ progress: SignInProgress,
        isBearer: Bool,
        status: HTTPResponse.Status = .ok
    ) async throws -> Answer {
        switch progress {
        case .session(let new):
            let next = try await next(of: new.session)
            var answer = Answer(json: ["account": Representations.account(new.session.account), "next": next])
            answer.status = status
            answer.add(new, isBearer: isBearer, cookies)
            return answer
        case .pending(let pending):
            let next = SignInStep(rawValue: pending.awaits == .code ? "code" : "totp")!
            var members: [JSON.Member] = [
                .init("session", ["state": .string(pending.awaits.rawValue)]), .next(next),
            ]
            if isBearer { members.append(.init("token", .string(pending.token.text))) }
            var answer = Answer(json: .object(members), status: status)
            if !isBearer { answer.headers.append(cookies.session.set(pending.token.text)) }
            if let device = pending.device { answer.add(device, isBearer: isBearer, cookies) }
            return answer
        case .deviceKnown(let device):
            var answer = Answer(json: .object([.init("session", nil), .next(.password)]), status: status)
            answer.add(device, isBearer: isBearer, cookies)
            if !isBearer { answer.headers.append(cookies.session.clear) }
            return answer
        }
    }

    // MARK: The session

    @Sendable func show(_ request: Request, _ context: SessionContext) async throws -> Answer {
        Answer(json: [
            "account": Representations.account(context.session.account),
            "next": try await next(of: context.session), "session": context.session.json,
        ])
    }

    /// The member `next` of a session: the step that sets up an authenticator app if the account lacks one
    /// (``Sessions/lacksAuthenticator(_:)``), otherwise null.
    private func next(of session: AccountSession) async throws -> JSON {
        try await sessions.lacksAuthenticator(session) ? SignInStep.setUpAuthenticator.json : nil
    }

    @Sendable func signOut(_ request: Request, _ context: RequestScope) async throws -> Answer {
        guard let token = context.credentials.token(of: AccountSession.self), try await sessions.end(token) else {
            throw Problem.noSession
        }
        return .signedOut(cookies)
    }

    @Sendable func list(_ request: Request, _ context: SessionContext) async throws -> Answer {
        let listed = try await sessions.list(of: context.session.account.id)
        return Answer(json: ["sessions": .array(listed.map { $0.json(isCurrent: $0.id == context.session.id) })])
    }

    @Sendable func end(_ request: Request, _ context: SessionContext) async throws -> Answer {
        let session = context.session
        guard let id = context.parameters.get("session").flatMap({ ID<AccountSession>(String($0)) }),
            try await sessions.end(id, of: session.account.id)
        else { throw Problem(.notFound, "The account has no such session.") }
        return id == session.id ? .signedOut(cookies) : Answer(status: .noContent)
    }

    @Sendable func endOthers(_ request: Request, _ context: SessionContext) async throws -> Answer {
        try await sessions.endOthers(than: context.session)
        return Answer(status: .noContent)
    }
}

extension ListedSession {
    func json(isCurrent: Bool) -> JSON {
        [
            "id": .string("\(id)"), "current": .bool(isCurrent),
            "created_at": .string(createdAt.timestamp), "last_seen_at": .string(lastSeenAt.timestamp),
            "network": network.map(JSON.string) ?? .null,
            "browser": browser.map { .string(BrowserName.of($0)) } ?? .null,
            "applications": .array(applications.map(JSON.string)),
        ]
    }
}

extension SessionRoutes {
    var operations: [Operation] {
        [
            .init(.post, "session", .signIn, responses: [.created: .signIn], .signIn(signIn)),
            .init(.get, "session", .showSession, responses: [.ok: .signIn], .session(show)),
            .init(.delete, "session", .signOut, responses: [.noContent: .nothing], .signIn(signOut)),
            .init(.put, "session/totp", .enterTOTP, responses: [.ok: .signIn], .signIn(enterTOTP)),
            .init(
                .put,
                "session/recovery-code",
                .enterRecoveryCode,
                responses: [.ok: .signIn],
                .signIn(enterRecoveryCode)
            ),
            .init(.post, "session/code", .mailSignInCode, responses: [.created: .signIn], .signIn(mailCode)),
            .init(.put, "session/code", .enterSignInCode, responses: [.ok: .signIn], .signIn(enterCode)),
            .init(.post, "session/ticket", .redeemSignInTicket, responses: [.created: .signIn], .signIn(redeemTicket)),
            .init(.put, "session/confirm", .confirm, responses: [.ok: .signIn], .signIn(confirm)),
            .init(.get, "account/sessions", .listSessions, responses: [.ok: .sessions], .session(list)),
            .init(
                .delete,
                "account/sessions",
                .endOtherSessions,
                responses: [.noContent: .nothing],
                .session(endOthers)
            ),
            .init(.delete, "account/sessions/:session", .endSession, responses: [.noContent: .nothing], .session(end)),
        ]
    }
}

extension Operation.Act {
    static let signIn = Self(
        "signIn",
        "Signs in with an address or a username, and the password",
        body: .members("SignIn", secretMembers: ["password"]),
        problems: [.signInFailed, .codeRequired, .validationFailed, .rateLimited, .busy],
        needsKeys: true
    )

    static let showSession = Self("showSession", "Returns the session and its account")

    static let signOut = Self("signOut", "Ends the session", problems: [.noSession])

    static let enterTOTP = Self(
        "enterTOTP",
        "Completes a sign-in with a code of the authenticator app",
        body: .members("SignInCode"),
        problems: [.noSession, .codeRequired, .validationFailed],
        needsKeys: true
    )

    static let enterRecoveryCode = Self(
        "enterRecoveryCode",
        "Completes a sign-in with a recovery code, which is replaced by a new one",
        body: .members("SignInCode"),
        problems: [.noSession, .codeRequired, .validationFailed],
        needsKeys: true
    )

    static let mailSignInCode = Self(
        "mailSignInCode",
        "Mails a code that makes the device known and, where the flow allows it, signs in",
        body: .members("MailSignInCode"),
        problems: [.validationFailed, .rateLimited],
        needsKeys: true
    )

    static let enterSignInCode = Self(
        "enterSignInCode",
        "Enters the mailed code",
        body: .members("SignInCode"),
        problems: [.noSession, .validationFailed, .rateLimited],
        needsKeys: true
    )

    static let redeemSignInTicket = Self(
        "redeemSignInTicket",
        "Exchanges the ticket in a mail for another mailed code",
        body: .members("RedeemSignInTicket"),
        problems: [.validationFailed, .rateLimited],
        needsKeys: true
    )

    static let confirm = Self(
        "confirmSession",
        "Proves again who the person is, by the password or a second factor; the session gets a new token",
        body: .members("Confirm", secretMembers: ["password"]),
        problems: [.noSession, .validationFailed, .rateLimited, .busy],
        needsKeys: true
    )

    static let listSessions = Self("listSessions", "Returns the sessions of the account")

    static let endOtherSessions = Self("endOtherSessions", "Ends all sessions of the account but this one")

    static let endSession = Self("endSession", "Ends one session of the account", problems: [.notFound])
}
