import Accounts
import ArgumentParser

/// An argument that names an account: its id, the first digits of its id, its address or its username.
struct AccountReference: ExpressibleByArgument, Sendable {
    static let help: ArgumentHelp = "The account's id or its first digits, its e-mail address or its username."

    let text: String
    private let id: ID<Account>?
    private let prefix: IDPrefix<Account>?

    init?(argument: String) {
        text = argument
        id = ID(argument)
        prefix = IDPrefix(argument)
    }

    /// Whether ``find(by:)`` always writes an audit record, because the text can only be an address or a username. For
    /// the first digits of an id, it writes one only if no id begins with them.
    var isSearch: Bool { id == nil && prefix == nil }

    /// Throws ``NotFound`` if there is no such account, and ``Refused`` if several ids begin with the digits.
    func find(by worker: Operator) async throws -> ID<Account> {
        if let id { return id }
        if let prefix {
            let (count, first) = try await worker.accounts(prefix)
            if count > 1 { throw Refused.ambiguous(text, count, "accounts") }
            if let first { return first }
        }
        // A username may look like the first digits of an id. This search writes an audit record.
        try worker.checkName()
        let identifier = SignInIdentifier(text.contains("@") ? try emailAddress(text).rawValue : text)
        guard let id = try await worker.account(identifier) else { throw notFound }
        return id
    }

    var notFound: NotFound {
        NotFound(description: "no account with the id, address or username \"\(text.printable)\"")
    }
}
