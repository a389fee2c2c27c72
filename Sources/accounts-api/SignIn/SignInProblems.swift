import Accounts
import HTTPTypes
import Hummingbird

extension SignInError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .failed: .signInFailed
        case .codeRequired: .codeRequired
        case .noSession: .noSession
        case .idle: .idleSession
        case .confirmationRequired: .confirmationRequired
        case .noSuchFactor:
            Problem(
                .notFound,
                """
                The factor cannot be changed: the account or the flow has no such factor, this session has only one \
                factor, or another request has changed the factor.
                """
            )
        case .factorRequired:
            Problem(.factorRequired, "Every account needs an authenticator app. Replace it instead of removing it.")
        case .refused(let refusals): .refused(refusals, in: context.language, of: context.flow)
        case .limited(let reached): .limited(reached)
        case .ticketExpired: .refused([Refusal("ticket", .codeExpired)], in: context.language)
        case .unreadable(let value): context.unreadable(value)
        case .hashing(let error as any Error), .image(let error as any Error), .database(let error as any Error):
            context.problem(for: error)
        }
    }
}

extension Problem {
    private static let challenge: HTTPFields = [.wwwAuthenticate: "Bearer"]

    static let noSession = Problem(
        .noSession,
        "The request has no valid token of a session or of an unfinished sign-in. Sign in.",
        [.next(.signIn), .init("reason", "unknown")],
        headers: challenge
    )

    static let idleSession = Problem(
        .noSession,
        "The session is idle. Confirm it with the password, or sign in again if the account has none.",
        [.next(.confirm), .init("reason", "idle")],
        headers: challenge
    )

    static let authenticatorMissing = Problem(
        .noSession,
        "Every account needs an authenticator app, and this one has none. Set one up.",
        [.next(.setUpAuthenticator), .init("reason", "authenticator")],
        headers: challenge
    )

    /// Whether the request has no valid token of the session or unfinished sign-in that it needs.
    var isOfNoSession: Bool { slug == .noSession && members.contains(.init("reason", "unknown")) }
    /// Whether the session is idle, and so must be confirmed first.
    var isOfIdleSession: Bool { slug == .noSession && members.contains(.init("reason", "idle")) }

    static let signInFailed = Problem(
        .signInFailed,
        "The identifier and the password do not belong together.",
        headers: challenge
    )

    static let confirmationRequired = Problem(
        .confirmationRequired,
        "This request needs a recent sign-in or confirmation. Confirm the session first.",
        [.next(.confirm)]
    )

    static let codeRequired = Problem(
        .codeRequired,
        "This device needs a mailed code before the next attempt. Request a code with POST /session/code.",
        [.next(.mailCode)],
        headers: challenge
    )
}

/// The next request of the client: the member `next` of an answer.
enum SignInStep: String {
    case signIn = "sign-in"
    case mailCode = "mail-code"
    case code, password, confirm
    case secondFactor = "totp"
    /// The flow requires an authenticator app of every account, and this account has none.
    case setUpAuthenticator = "authenticator"

    private var href: String {
        switch self {
        case .signIn, .password: "/session"
        case .mailCode, .code: "/session/code"
        case .secondFactor: "/session/totp"
        case .confirm: "/session/confirm"
        case .setUpAuthenticator: "/account/totp"
        }
    }

    var json: JSON { ["step": .string(rawValue), "href": .string(href)] }
}

extension JSON.Member {
    static func next(_ step: SignInStep) -> JSON.Member { .init("next", step.json) }
}
