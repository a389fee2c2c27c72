import Accounts

extension Answer {
    /// Adds the member `continue`: where the person goes next, if that is not the account. It is
    /// `{"application", "name", "href"}` if an application has sent the person, `{"name", "href"}` for a page behind a
    /// proxy, and otherwise, after a sign-up, `{"href"}` with the URL in `AFTER_SIGNUP_URL`.
    ///
    /// The `href` of an application continues its authorization request. If the draft has moved to another device since
    /// the request, or if a recovery starts no session, `href` is the `initiate_login_uri` of the application instead.
    /// If the application has no such URI, or is no longer in the applications file, the member is as if no application
    /// had sent the person.
    ///
    /// - Parameter session: the session that the commit has started; nil if it has started none.
    mutating func addContinuation(
        of draft: Draft,
        committedAs account: Account,
        _ session: AccountSession? = nil,
        at site: FlowSite
    ) {
        let request =
            site.purpose == .signup
            ? draft.authorization(committedAs: account) : session.flatMap { draft.authorization(recoveredBy: $0) }
        guard case .object(let members)? = json,
            let continuation = Self.continuation(of: draft, request, site.provider)
                ?? site.hosts.flatMap({ Self.continuation(of: draft, to: $0) })
                ?? site.afterSignupURL.map({ ["href": .string($0)] })
        else { return }
        json = .object(members + [.init("continue", continuation)])
    }

    private static func continuation(
        of draft: Draft,
        _ request: AuthorizationRequest?,
        _ provider: Provider?
    ) -> JSON? {
        guard let provider, let application = draft.application.flatMap({ provider.application($0) }) else {
            return nil
        }
        let ticket = request?.ticket(provider.keys)
        guard let href = ticket.map(AuthorizePages.path) ?? application.initiateLoginURI else { return nil }
        return [
            "application": .string(application.id), "name": .string(application.name(in: draft.language)),
            "href": .string(href),
        ]
    }

    /// Nil if the draft has no URL to return to, or if the hosts do not permit it any more: `FORWARD_AUTH_HOSTS` may
    /// have changed since the draft got the URL.
    private static func continuation(of draft: Draft, to hosts: ForwardAuthHosts) -> JSON? {
        draft.values.returnURL.flatMap { hosts.allowed($0) }.map { url in
            ["name": .string(ForwardAuthHosts.host(of: url)), "href": .string(url)]
        }
    }
}
