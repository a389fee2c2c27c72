import Accounts

extension Answer {
    /// Adds the application that the person goes back to, if there is one:
    /// `"continue": {"application", "name", "href"}`. Whoever has finished on another device goes where that application
    /// begins a sign-in.
    mutating func addContinuation(of draft: Draft, committedAs account: Account, _ provider: Provider?) {
        guard let provider, let application = draft.application.flatMap({ provider.application($0) }),
            case .object(let members)? = json
        else { return }
        let ticket = draft.authorization(committedAs: account)?.ticket(provider.keys)
        guard let href = ticket.map(AuthorizePages.path) ?? application.initiateLoginURI else { return }
        let continuation: JSON = [
            "application": .string(application.id), "name": .string(application.name(in: draft.language)),
            "href": .string(href),
        ]
        json = .object(members + [.init("continue", continuation)])
    }
}
