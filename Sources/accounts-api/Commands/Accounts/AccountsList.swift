import Accounts
import ArgumentParser

extension AccountCommands {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists accounts with masked values, newest first.",
            discussion: """
                --email and --username write an audit record.

                EXAMPLES
                  accounts-api accounts list --state disabled
                  accounts-api accounts list --since 7d --limit 10000 --json
                """
        )

        @Option(help: "Only accounts in this state.") var state: AccountState?
        @Option(help: "Only accounts created within this time, such as 7d.") var since: DurationArgument?
        @Option(help: "Only the account with this e-mail address.") var email: String?
        @Option(help: "Only the account with this username.") var username: String?
        @OptionGroup var page: PageFlags<IDArgument<Account>>
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let filter = try filter
            let accounts = try await flags.withOperator(writesAudit: !filter.identifiers.isEmpty, needsKeys: false) {
                try await $0.accounts(filter, limit: page.limit, after: page.after?.id)
            }
            print(flags.json ? accounts.json("accounts", \.json).text : Self.text(of: accounts, isWide: flags.wide))
        }

        private var filter: AccountFilter {
            get throws {
                if let username, username.contains("@") {
                    throw ValidationError("invalid username \"\(username.printable)\": pass an address with --email")
                }
                let texts = [try email.map { try emailAddress($0).rawValue }, username].compactMap { $0 }
                return AccountFilter(
                    state: state,
                    since: since?.duration,
                    identifiers: texts.map { SignInIdentifier($0) }
                )
            }
        }

        private static func text(of page: ListPage<AccountSummary>, isWide: Bool) -> String {
            if page.total == 0 { return "no accounts" }
            let rows = page.items.map { account -> [Table.Cell] in
                let lastUsed = account.lastUsedAt.map { relative($0, to: page.now) }
                let cells: [Table.Cell] = [
                    .init(id: account.id), .init(relative(account.createdAt, to: page.now)),
                    .init(account.state.rawValue, account.state == .disabled ? .yellow : .plain),
                ]
                let texts = [
                    account.address ?? "", account.username ?? "", account.factors.joined(separator: ", "),
                    lastUsed ?? "",
                ]
                return cells + texts.map { Table.Cell($0) }
            }
            let header = ["ID", "CREATED", "STATE", "ADDRESS", "USERNAME", "FACTORS", "LAST USED"]
            let table = Table(header, rows, omittingIfNarrow: ["FACTORS", "CREATED"])
            return "\(table.text(isWide: isWide))\n\n\(page.summary(of: "account"))"
        }
    }
}

extension AccountState: ExpressibleByArgument {}

extension AccountSummary {
    fileprivate var factors: [String] {
        (hasPassword ? ["password"] : []) + (hasAuthenticator ? ["totp"] : [])
    }

    fileprivate var json: JSON {
        [
            "id": .string("\(id)"), "created_at": .string(createdAt.timestamp), "state": .string(state.rawValue),
            "email": address.map(JSON.string) ?? .null, "username": username.map(JSON.string) ?? .null,
            "factors": .array(factors.map(JSON.string)),
            "last_used_at": lastUsedAt.map { .string($0.timestamp) } ?? .null,
        ]
    }
}
