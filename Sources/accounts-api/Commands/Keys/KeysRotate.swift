import Accounts
import ArgumentParser

extension KeyCommands {
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Seals with the first key whatever another key has sealed.",
            discussion: """
                Put the new key first in ACCOUNTS_KEYS of all servers, the old ones behind it, and restart them. Then run \
                this. Codes that are on their way stay with the old key, so wait ten minutes before you take it away. Exits \
                with 1 where something is sealed with a key that is not in the ring.

                EXAMPLE
                  ACCOUNTS_KEYS_FILE=keys accounts-api keys rotate
                """
        )

        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let rotated = try await flags.withOperator(leavesTrace: true) { try await $0.rotateKeys() }
            let rows = Operator.sealedTables.map { (name: $0.name, count: rotated.rows[$0.name] ?? 0) }
            let counts = [(name: "drafts", count: rotated.drafts)] + rows
            if flags.json {
                let counts = counts.map { JSON.Member($0.name, .integer($0.count)) }
                print(JSON.object(counts + [.init("unreadable", .integer(rotated.unreadable))]).text)
            } else {
                print("sealed anew: " + counts.map { "\($0.count) \($0.name)" }.joined(separator: ", "))
            }
            guard rotated.unreadable > 0 else { return }
            complain("\(rotated.unreadable) are sealed with a key that is not in ACCOUNTS_KEYS")
            throw ExitCode(1)
        }
    }
}
