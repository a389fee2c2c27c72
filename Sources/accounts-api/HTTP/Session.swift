import Accounts
import HTTPTypes
import Hummingbird
import Logging

/// How the token travels: in a cookie, or as a bearer. Never in a URL.
struct Session: Sendable {
    /// True where `PUBLIC_URL` is https; then the cookie is bound to the host and to TLS.
    let isSecure: Bool

    var cookieName: String { isSecure ? "__Host-signup" : "signup" }

    struct Credentials {
        var token: Token?
        var hasCookie = false
        var hasBearer = false
    }

    /// The token as it came; two that differ are a malformed request.
    func credentials(of request: Request) throws -> Credentials {
        let cookies = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let pair = pair.trimmingWhitespace()
            return pair.hasPrefix("\(cookieName)=") ? String(pair.dropFirst(cookieName.count + 1)) : nil
        }
        let bearers = request.headers[values: .authorization].compactMap { field in
            field.lowercased().hasPrefix("bearer ") ? String(field.dropFirst(7).drop { $0 == " " }) : nil
        }
        guard Set(cookies + bearers).count <= 1 else {
            throw Problem(.malformedRequest, "Two tokens came, and they differ.")
        }
        return Credentials(
            token: (cookies.first ?? bearers.first).flatMap { Token($0) },
            hasCookie: !cookies.isEmpty,
            hasBearer: !bearers.isEmpty
        )
    }

    func setCookie(_ token: Token) -> String {
        "\(cookieName)=\(token.text); Path=/; \(attributes)"
    }

    var clearCookie: String { "\(cookieName)=; Path=/; Max-Age=0; \(attributes)" }

    private var attributes: String { (isSecure ? "Secure; " : "") + "HttpOnly; SameSite=Lax" }
}

/// Finds the draft that the token belongs to, if one came. Whether one is needed is for the handler's context to say.
struct DraftFinder: RouterMiddleware {
    let signups: Signups

    func handle(
        _ request: Request,
        context: RequestScope,
        next: Next
    ) async throws -> Response {
        guard let token = context.credentials.token else { throw Problem.noDraft }
        var context = context
        do throws(FindError) {
            context.draft = try await signups.find(token)
        } catch {
            if case .unreadable(let id) = error {
                context.logger.error(
                    "a draft is sealed with a key that is not in the ring",
                    metadata: ["draft": "\(id)"]
                )
            }
            throw try Problem(error)
        }
        context.logger[metadataKey: "draft"] = "\(token.draft)"
        context.subject.becomes(token.draft)
        do {
            return try await next(request, context)
        } catch var problem as Problem {
            problem.language = context.draft?.language
            throw problem
        }
    }
}
