import Accounts
import ArgumentParser
import Foundation

/// An account given as an argument: by its id or its address.
struct AccountReference: ExpressibleByArgument, Sendable {
    let text: String
    private let id: ID<Account>?

    init?(argument: String) {
        text = argument
        id = ID(argument)
    }

    /// Whether finding the account writes an audit record, because it is a search for an address.
    var isSearch: Bool { id == nil }

    /// Throws `NotFound` if there is no such account.
    func find(by worker: Operator) async throws -> ID<Account> {
        if let id { return id }
        guard let id = try await worker.account(named: emailAddress(text).rawValue) else { throw notFound }
        return id
    }

    var notFound: NotFound { NotFound(description: "no account with the id or address \"\(text.printable)\"") }
}
