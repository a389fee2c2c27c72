import Accounts
import ArgumentParser

/// An argument that names an account.
struct AccountReference: ExpressibleByArgument, Sendable {
    static let help: ArgumentHelp = "The account's id or its first digits, its e-mail address or its username."

    private let name: IDOrName<Account>

    init?(argument: String) { name = IDOrName(argument) }

    var text: String { name.text }
    var isSearch: Bool { name.isSearch }

    /// Returns a complete id without a search, so an account with that id need not exist. For any other text, throws
    /// ``NotFound`` if there is no such account, and ``Refused`` if several ids begin with the digits.
    func find(by admin: Operator) async throws -> ID<Account> {
        try await name.find(by: admin, "accounts", matching: admin.idsBeginning(with:)) { identifier in
            guard let id = try await admin.account(identifier) else { throw notFound }
            return id
        }
    }

    var notFound: NotFound {
        NotFound(description: "no account with the id, address or username \"\(text.printable)\"")
    }
}
