import Accounts
import ArgumentParser

extension AccountCommands {
    struct Erase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Erases an account with everything that belongs to it.",
            discussion: """
                This cannot be undone: the command asks first, or needs --yes. Writes an audit record. With --dry-run \
                it does not ask, and writes a record only of a search by an address or a username.

                EXAMPLES
                  accounts-api accounts erase kim@example.com --dry-run
                  accounts-api accounts erase kim@example.com --yes
                """
        )

        @Argument(help: AccountReference.help) var account: AccountReference
        @Flag(help: "Only says what would be erased.") var dryRun = false
        @Flag(help: "Does not ask.") var yes = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            if dryRun { return try await preview() }
            if !yes {
                try Question.ask(
                    "Erase the account \(account.text.printable)? This cannot be undone. [y/N] ",
                    orRefuse: "nothing was erased"
                )
            }
            let id = try await flags.withOperator(writesAudit: true, needsKeys: false) { admin in
                let id = try await account.find(by: admin)
                guard try await admin.erase(id) else { throw account.notFound }
                return id
            }
            print(flags.json ? json(id, rows: .null).text : "erased account \(id)")
        }

        /// Prints what would be erased.
        private func preview() async throws {
            let (id, preview) = try await flags.withOperator(writesAudit: account.isSearch, needsKeys: false) { admin in
                let id = try await account.find(by: admin)
                guard let preview = try await admin.erasePreview(of: id) else { throw account.notFound }
                return (id, preview)
            }
            print(flags.json ? json(id, rows: preview.json).text : "would erase account \(id)\(preview.text)")
        }

        private func json(_ id: ID<Account>, rows: JSON) -> JSON {
            ["account": .string("\(id)"), "dry_run": .bool(dryRun), "rows": rows]
        }
    }
}

extension ErasePreview {
    /// The output after the account's id: " (k•••@e•••.com, k•••) with 2 identifiers, 1 credential", for example.
    fileprivate var text: String {
        let names = [address, username].compactMap { $0 }
        let counts = rows.filter { $0.count > 0 }.map { counted($0.count, String($0.name.dropLast())) }
        return (names.isEmpty ? "" : " (\(names.joined(separator: ", ")))").printable
            + (counts.isEmpty ? "" : " with \(counts.joined(separator: ", "))")
    }

    fileprivate var json: JSON {
        .object(rows.map { .init($0.name.replacing(" ", with: "_"), .integer($0.count)) })
    }
}
