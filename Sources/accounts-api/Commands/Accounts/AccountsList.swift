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
        @OptionGroup var list: ListFlags
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let format = try AccountSummary.format.chosen(by: list, asJSON: flags.json)
            let filter = try filter
            let accounts = try await flags.withOperator(writesAudit: !filter.identifiers.isEmpty, needsKeys: false) {
                try await $0.accounts(filter, limit: page.limit, after: page.after?.id)
            }
            print(
                flags.json
                    ? accounts.json("accounts", in: format).text
                    : accounts.text(in: format, of: "account", none: "no accounts", isWide: flags.wide)
            )
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
    }
}

extension AccountState: ExpressibleByArgument {}

extension AccountSummary {
    private var factors: [String] {
        (hasPassword ? ["password"] : []) + (hasAuthenticator ? ["totp"] : [])
    }

    fileprivate static var format: ListFormat<AccountSummary> {
        ListFormat(
            [
                .init("ID") { .init(id: $0.id) }, .time("CREATED", \.createdAt),
                .init("STATE") { .init($0.state.rawValue, $0.state == .disabled ? .yellow : .plain) },
                .text("ADDRESS", \.address), .text("USERNAME", \.username),
                .text("FACTORS") { $0.factors.joined(separator: ", ") }, .time("LAST USED", \.lastUsedAt),
            ],
            omittingIfNarrow: ["FACTORS", "CREATED"],
            fields: [
                .text("id", \.id.description), .time("created_at", \.createdAt), .text("state", \.state.rawValue),
                .text("email", \.address), .text("username", \.username),
                .init("factors") { .array($0.factors.map(JSON.string)) }, .time("last_used_at", \.lastUsedAt),
            ]
        )
    }
}
