import Accounts
import Hummingbird

/// One flow as clients see it: its paths, its cookie, its bodies and its pages.
struct FlowSite: Sendable {
    let signups: Signups
    let cookie: TokenCookie
    let sessionCookies: SessionCookies
    let pages: Pages
    let uploads: Uploads
    /// Set only for the flow of the sign-up, because its last page depends on the session. Nil for any other flow.
    let sessions: Sessions?
    /// The OpenID provider; nil if the service has no applications.
    let provider: Provider?
    /// The hosts of the applications behind proxies, to which a page may lead back; nil without forward authentication.
    let hosts: ForwardAuthHosts?
    /// The URL to which the last page of a sign-up leads, unless the sign-up leads back to an application or to a page
    /// behind a proxy. If nil, the page leads to the account.
    let afterSignupURL: String?

    /// - Parameter isSecure: whether `PUBLIC_URL` begins with `https://`.
    init(
        _ signups: Signups,
        isSecure: Bool,
        assets: Assets,
        provider: Provider? = nil,
        sessions: Sessions? = nil,
        hosts: ForwardAuthHosts? = nil,
        afterSignupURL: String? = nil
    ) {
        self.sessions = sessions
        (self.provider, self.hosts, self.afterSignupURL) = (provider, hosts, afterSignupURL)
        self.signups = signups
        cookie = TokenCookie(signups.flow.purpose.rawValue, isSecure: isSecure)
        sessionCookies = SessionCookies(isSecure: isSecure)
        pages = Pages(signups: signups, assets: assets, provider: provider, hosts: hosts)
        uploads = Uploads(signups: signups)
    }

    var purpose: FlowPurpose { signups.flow.purpose }
    var representations: Representations { Representations(signups: signups) }
    var signupRoutes: SignupRoutes { SignupRoutes(site: self) }
    var tickets: TicketRoutes { TicketRoutes(site: self) }

    /// The step whose form the first page shows; nil if a field of it has a name that the form needs for itself.
    var firstStep: Step? { pages.firstStep }

    /// Whether the request has the cookie of a session, which may have ended.
    func hasSession(_ request: Request) -> Bool { !sessionCookies.session.values(in: request.headers).isEmpty }

    /// Whether the path belongs to this flow.
    func has(_ path: String) -> Bool { path == purpose.path || path.hasPrefix("\(purpose.path)/") }
}

extension FlowPurpose {
    /// The name for a draft of this flow in the `detail` of problems.
    var noun: String {
        switch self {
        case .signup: "sign-up"
        case .recovery: "recovery"
        case .emailChange: "change of the address"
        }
    }

    /// The path and query of the page that a browser gets after the commit, unless a recovery leads back to an
    /// application or to a page behind a proxy.
    var pathAfterCommit: String {
        switch self {
        case .signup: path
        case .recovery: "/account?password-changed"
        case .emailChange: "/account?address-changed"
        }
    }
}
