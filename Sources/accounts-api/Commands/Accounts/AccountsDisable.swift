import Accounts
import ArgumentParser

extension AccountCommands {
    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Keeps the person of an account from signing in, and ends its sessions.",
            discussion: """
                The sign-in then answers as if there were no such account. A change writes an audit record, and so \
                does a search by address or username.

                EXAMPLE
                  accounts-api accounts disable kim@example.com
                """
        )

        @Argument(help: AccountReference.help) var account: AccountReference
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let (id, hasChanged) = try await flags.withOperator(writesAudit: true, needsKeys: false) { admin in
                let id = try await account.find(by: admin)
                guard let hasChanged = try await admin.disable(id) else { throw account.notFound }
                return (id, hasChanged)
            }
            AccountCommands.report("disabled", id, hasChanged, flags)
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lets the person of a disabled account sign in again.",
            discussion: """
                A change writes an audit record, and so does a search by address or username.

                EXAMPLE
                  accounts-api accounts enable kim@example.com
                """
        )

        @Argument(help: AccountReference.help) var account: AccountReference
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let (id, hasChanged) = try await flags.withOperator(writesAudit: true, needsKeys: false) { admin in
                let id = try await account.find(by: admin)
                guard let hasChanged = try await admin.enable(id) else { throw account.notFound }
                return (id, hasChanged)
            }
            AccountCommands.report("enabled", id, hasChanged, flags)
        }
    }

    private static func report(_ state: String, _ id: ID<Account>, _ hasChanged: Bool, _ flags: OperatorFlags) {
        let json: JSON = ["id": .string("\(id)"), "state": .string(state), "changed": .bool(hasChanged)]
        let text = hasChanged ? "\(state) account \(id)" : "account \(id) was \(state) already"
        print(flags.json ? json.text : text)
    }
}
