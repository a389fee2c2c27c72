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
            if flags.json {
                print(
                    JSON.object([
                        .init("drafts", .integer(rotated.drafts)), .init("mails", .integer(rotated.mails)),
                        .init("authenticators", .integer(rotated.authenticators)),
                        .init("photos", .integer(rotated.photos)),
                        .init("unreadable", .integer(rotated.unreadable)),
                    ]).text
                )
            } else {
                print(
                    "sealed anew: \(rotated.drafts) drafts, \(rotated.mails) mails, "
                        + "\(rotated.authenticators) authenticators, \(rotated.photos) photos"
                )
            }
            guard rotated.unreadable > 0 else { return }
            complain("\(rotated.unreadable) are sealed with a key that is not in ACCOUNTS_KEYS")
            throw ExitCode(1)
        }
    }
}
