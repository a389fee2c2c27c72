import Accounts

/// One flow as clients see it: its paths, its cookie, its bodies and its pages.
struct FlowSite: Sendable {
    let signups: Signups
    let cookie: TokenCookie
    let sessionCookies: SessionCookies
    let pages: Pages
    let uploads: Uploads
    /// Nil if there are no applications.
    let provider: Provider?
    /// Where the last page of a sign-up leads that no application has begun; nil for the account.
    let afterSignupURL: String?

    /// - Parameter isSecure: whether the service is reached by https.
    init(
        _ signups: Signups,
        isSecure: Bool,
        assets: Assets,
        provider: Provider? = nil,
        afterSignupURL: String? = nil
    ) {
        (self.provider, self.afterSignupURL) = (provider, afterSignupURL)
        self.signups = signups
        cookie = TokenCookie(signups.flow.purpose.rawValue, isSecure: isSecure)
        sessionCookies = SessionCookies(isSecure: isSecure)
        pages = Pages(signups: signups, assets: assets, provider: provider)
        uploads = Uploads(signups: signups)
    }

    var purpose: FlowPurpose { signups.flow.purpose }
    var representations: Representations { Representations(signups: signups) }
    var drafts: SignupRoutes { SignupRoutes(site: self) }
    var tickets: TicketRoutes { TicketRoutes(site: self) }

    /// The step whose form the first page shows; nil if a field of it has a name that the form needs for itself.
    var firstStep: Step? { pages.firstStep }

    /// Whether the path belongs to this flow.
    func has(_ path: String) -> Bool { path == purpose.path || path.hasPrefix("\(purpose.path)/") }
}

extension FlowPurpose {
    /// What a client begins and finishes, in the details of problems.
    var noun: String {
        switch self {
        case .signup: "sign-up"
        case .recovery: "recovery"
        case .emailChange: "change of the address"
        }
    }

    /// The path of the page after the commit.
    var pathAfterCommit: String {
        switch self {
        case .signup: path
        case .recovery: "/account?password-changed"
        case .emailChange: "/account?address-changed"
        }
    }
}
