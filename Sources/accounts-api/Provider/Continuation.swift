import Accounts

extension Answer {
    /// Adds where the person goes from here, unless that is the account: `"continue": {"application", "name", "href"}` for
    /// the application that has begun the sign-up, otherwise only `href`. Whoever has finished on another device goes where
    /// the application begins a sign-in.
    mutating func addContinuation(of draft: Draft, committedAs account: Account, at site: FlowSite) {
        guard case .object(let members)? = json,
            let continuation = Self.continuation(of: draft, account, site.provider)
                ?? site.afterSignupURL.map({ ["href": .string($0)] })
        else { return }
        json = .object(members + [.init("continue", continuation)])
    }

    private static func continuation(of draft: Draft, _ account: Account, _ provider: Provider?) -> JSON? {
        guard let provider, let application = draft.application.flatMap({ provider.application($0) }) else {
            return nil
        }
        let ticket = draft.authorization(committedAs: account)?.ticket(provider.keys)
        guard let href = ticket.map(AuthorizePages.path) ?? application.initiateLoginURI else { return nil }
        return [
            "application": .string(application.id), "name": .string(application.name(in: draft.language)),
            "href": .string(href),
        ]
    }
}
