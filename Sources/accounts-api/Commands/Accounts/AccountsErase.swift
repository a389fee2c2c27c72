import Accounts
import ArgumentParser

extension AccountCommands {
    struct Erase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Erases an account with everything that belongs to it.",
            discussion: """
                This cannot be undone: the command asks first, or needs --yes. Writes an audit record.

                EXAMPLE
                  accounts-api accounts erase kim@example.com --yes
                """
        )

        @Argument(help: AccountReference.help) var account: AccountReference
        @Flag(help: "Does not ask.") var yes = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
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
            print(flags.json ? JSON.object([.init("erased", .string("\(id)"))]).text : "erased account \(id)")
        }
    }
}
