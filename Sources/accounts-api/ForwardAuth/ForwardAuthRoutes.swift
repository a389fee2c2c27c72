import Accounts
import Foundation
import HTTPTypes
import Hummingbird

/// Tells a proxy who the person is, for an application behind it that has no sign-in of its own.
struct ForwardAuthRoutes: Sendable {
    let sessions: Sessions
    let forwardAuth: ForwardAuth
    let publicURL: String
    /// The cookie with the token of the session.
    let cookie: TokenCookie
    /// The names of all cookies of the service. Applications do not get these cookies.
    let ownCookies: Set<String>

    @Sendable func check(_ request: Request, _ context: RequestScope) async throws -> Answer {
        guard let asked = ForwardedRequest(request.headers) else {
            throw Problem(
                .malformedRequest,
                "The proxy must send X-Original-URL with http:// or https://, or X-Forwarded-Host."
            )
        }
        return try await answer(asked, context)
    }

    /// Tells the proxy to which account the session belongs. Reads the session in one round trip to the database, and
    /// does not record that the session is in use. If the flow requires an authenticator app and the session has only
    /// one factor, also reads whether the account has an app. The signed header `X-Identity` may be that of an earlier
    /// answer; the rest of the answer is never cached.
    private func answer(_ asked: ForwardedRequest, _ context: RequestScope) async throws -> Answer {
        guard forwardAuth.hosts.contains(asked.host) else {
            throw Problem(.notFound, "The host that the proxy asks about is not in FORWARD_AUTH_HOSTS.")
        }
        guard let token = context.credentials.token(of: AccountSession.self) else {
            return signedOut(asked, .noSession, context)
        }
        let session: AccountSession
        do throws(SignInError) { session = try await sessions.check(token) } catch {
            switch error {
            case .noSession: return signedOut(asked, .noSession, context)
            case .idle: return signedOut(asked, .idleSession, context)
            default: throw error
            }
        }
        if try await sessions.lacksAuthenticator(session) {
            return signedOut(asked, .authenticatorMissing, at: AuthenticatorPages.path, context)
        }
        return try await signedIn(session, asked)
    }

    /// The answer about a person who is signed in. It always has all five headers, even those with an empty value: some
    /// proxies pass on the header of the client if the answer has none of that name.
    private func signedIn(_ session: AccountSession, _ asked: ForwardedRequest) async throws(SignInError) -> Answer {
        let identity: String
        do throws(SigningError) {
            identity = try await forwardAuth.keys.signOrReuse(
                claims(session, asked),
                type: .identity,
                by: .es256,
                at: session.now,
                for: Self.lifetime
            )
        } catch {
            switch error {
            case .database(let error): throw .database(error)
            case .invalid, .unreadable: throw .unreadable(.signingKey)
            }
        }
        return Answer(
            status: asked.isFromNginx ? .noContent : .ok,
            headers: [
                .remoteUser: "\(session.account.id)", .remoteEmail: session.account.email ?? "",
                .remoteName: session.account.username ?? "", .identity: identity,
                .cookie: asked.cookies.filter { !isOwn($0) }.joined(separator: "; "),
            ]
        )
    }

    private func isOwn(_ cookie: Substring) -> Bool {
        ownCookies.contains(String(Substring(cookie.utf8.prefix { $0 != UInt8(ascii: "=") })))
    }

    private func claims(_ session: AccountSession, _ asked: ForwardedRequest) -> [JSON.Member] {
        [
            .init("iss", .string(publicURL)), .init("aud", .string(asked.host)),
            .init("sub", .string("\(session.account.id)")),
            .init("auth_time", .integer(Int(session.authTime.timeIntervalSince1970))),
            .init("acr", .string(session.assurance.name)), .init("amr", .array(session.methods.words.map(JSON.string))),
        ]
    }

    /// The lifetime of the signed header. For up to 30 seconds, the service answers with the same header again.
    private static let lifetime = Duration.seconds(60)

    /// The answer about a person who is not signed in, or whose session is not enough. Only the answer to a navigation
    /// has a `Location`, because a script would get the page at that URL in place of its data.
    ///
    /// - Parameter page: the page on which the person solves the problem.
    private func signedOut(
        _ asked: ForwardedRequest,
        _ problem: Problem,
        at page: String = "/sign-in",
        _ context: RequestScope
    ) -> Answer {
        var headers: HTTPFields = [:]
        if asked.isNavigation {
            let url = forwardAuth.hosts.url(host: asked.host, target: asked.target)
            headers[.location] = ReturnTarget(url: url).carried(by: page)
            if !asked.isFromNginx { return Answer(status: .seeOther, headers: headers) }
        }
        for field in problem.headers { headers[field.name] = field.value }
        headers[.contentType] = Problem.contentType
        return Answer(
            json: problem.json(publicURL: publicURL, requestID: context.requestID, in: context.language),
            status: problem.slug.status,
            headers: headers
        )
    }

    var operations: [Operation] {
        [
            .init(
                .get,
                "session/check",
                .checkSession,
                responses: [.ok: .nothing, .noContent: .nothing, .seeOther: .nothing],
                .signIn(check)
            )
        ]
    }
}

// MARK: - Envoy

extension ForwardAuthRoutes {
    /// The prefix that Envoy puts before the path of a request when it asks about that request.
    static let prefix = "/session/check/ext-authz"

    /// Adds the routes for Envoy, which asks by repeating the request under the prefix, with the same method. These
    /// routes change nothing, so they do not check which site has caused the request.
    func answerRepeatedRequests(on router: some RouterMethods<RequestScope>) {
        for path in [Self.prefix, "\(Self.prefix)/**"] {
            // The router adds HEAD to GET.
            for method in [.get, .post, .put, .delete, .patch, .options, .trace] as [HTTPRequest.Method] {
                router.on(RouterPath(path), method: method) { try await checkRepeated($0, $1).response }
            }
        }
    }

    private func checkRepeated(_ request: Request, _ context: RequestScope) async throws -> Answer {
        guard let asked = ForwardedRequest(request, after: Self.prefix) else {
            throw Problem(.malformedRequest, "The path of the request does not begin with \(Self.prefix).")
        }
        var (headers, context) = (request.headers, context)
        // Envoy also repeats this header, which is meant for the application and not for this service.
        headers[.authorization] = nil
        context.credentials = try cookie.credentials(in: headers)
        return try await answer(asked, context)
    }
}

extension Operation.Act {
    static let checkSession = Self(
        "checkSession",
        "Tells a proxy who the person is",
        problems: [.noSession, .notFound],
        needsKeys: true
    )
}
