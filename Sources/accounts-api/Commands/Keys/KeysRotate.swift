import Accounts
import ArgumentParser

extension KeyCommands {
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Re-encrypts with the first key all data that another key has encrypted.",
            discussion: """
                First append the new key to ACCOUNTS_KEYS of all servers, and restart the servers: now they can \
                decrypt with it. Then move it to the front, and restart the servers again: now they encrypt with it. \
                Then run this command. Codes that were already sent depend on the old key for ten minutes: wait that \
                long before you remove it. Exits with 1 if some data cannot be decrypted with the keys in \
                ACCOUNTS_KEYS.

                EXAMPLE
                  ACCOUNTS_KEYS_FILE=keys accounts-api keys rotate
                """
        )

        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let rotated = try await flags.withOperator(writesAudit: true) { try await $0.rotateKeys() }
            let rows = Operator.sealedTables.map { (name: $0.name, count: rotated.rows[$0.name] ?? 0) }
            let counts = [(name: "drafts", count: rotated.drafts)] + rows
            if flags.json {
                let counts = counts.map { JSON.Member($0.name, .integer($0.count)) }
                print(JSON.object(counts + [.init("unreadable", .integer(rotated.unreadable))]).text)
            } else {
                let texts = counts.map { counted($0.count, String($0.name.dropLast())) }
                print("re-encrypted \(texts.joined(separator: ", "))")
            }
            guard rotated.unreadable > 0 else { return }
            printError(
                "cannot decrypt \(counted(rotated.unreadable, "item")): add the missing key to ACCOUNTS_KEYS "
                    + "and run this command again"
            )
            throw ExitCode(1)
        }
    }
}
