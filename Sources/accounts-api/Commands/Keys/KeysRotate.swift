import Accounts
import ArgumentParser

extension KeyCommands {
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Re-encrypts stored data with the first key of ACCOUNTS_KEYS.",
            discussion: """
                First append the new key to ACCOUNTS_KEYS of all servers, and restart the servers: now they can \
                decrypt with it. Then move it to the front, and restart the servers again: now they encrypt with it. \
                Then run this command. It prints which keys may be removed, and which must stay because passwords \
                need them. Wait a day before you remove a key, because codes that were already sent, unfinished \
                sign-ins and rate limits need it. If the key has not leaked, wait 30 days instead, because refresh \
                tokens and the counts of failed sign-ins need the key for that long. Exits with 1 if data or \
                passwords need a key that is not in ACCOUNTS_KEYS.

                EXAMPLE
                  ACCOUNTS_KEYS_FILE=keys accounts-api keys rotate
                """
        )

        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let (rotated, removable) = try await flags.withOperator(writesAudit: true) { admin in
                let rotated = try await admin.rotateKeys()
                return (rotated, admin.removableKeys(after: rotated))
            }
            let passwords = rotated.passwords.sorted { $0.key < $1.key }
            let rows = Operator.sealedTables.map { table in
                (name: table.plural, singular: table.singular, count: rotated.rows[table.plural] ?? 0)
            }
            let counts = [(name: "drafts", singular: "draft", count: rotated.drafts)] + rows
            if flags.json {
                let counts = counts.map { JSON.Member($0.name.replacing(" ", with: "_"), .integer($0.count)) }
                let needed = passwords.map { JSON.Member($0.key, .integer($0.value)) }
                let rest: [JSON.Member] = [
                    .init("unreadable", .integer(rotated.unreadable)),
                    .init("missing_keys", .array(rotated.missingKeys.sorted().map(JSON.string))),
                    .init("passwords", .object(needed)),
                    .init("passwords_without_key", .integer(rotated.passwordsWithoutKey)),
                    .init("removable", .array(removable.map(JSON.string))),
                ]
                print(JSON.object(counts + rest).text)
            } else {
                let texts = counts.map { "\($0.count) \($0.count == 1 ? $0.singular : $0.name)" }
                print("re-encrypted \(texts.joined(separator: ", "))")
                for (key, count) in passwords {
                    print("keep the key \"\(key)\": without it, \(counted(count, "password")) cannot be verified")
                }
                for key in removable {
                    print("you may remove the key \"\(key)\" in 30 days, or in a day if it has leaked")
                }
            }
            if rotated.unreadable > 0 {
                let keys = rotated.missingKeys.sorted().map { " \"\($0.printable)\"" }.joined(separator: ",")
                let plural = rotated.missingKeys.count > 1 ? "s" : ""
                let remedy =
                    rotated.missingKeys.isEmpty
                    ? "their keys are present, so the data is damaged, or a key in ACCOUNTS_KEYS has another value "
                        + "than before"
                    : "add the missing key\(plural)\(keys) to ACCOUNTS_KEYS and run this command again"
                printError("cannot decrypt \(counted(rotated.unreadable, "item")): \(remedy)")
            }
            if rotated.passwordsWithoutKey > 0 {
                printError(
                    "cannot verify \(counted(rotated.passwordsWithoutKey, "password")): add the missing key to "
                        + "ACCOUNTS_KEYS"
                )
            }
            if rotated.unreadable + rotated.passwordsWithoutKey > 0 { throw ExitCode(1) }
        }
    }
}
