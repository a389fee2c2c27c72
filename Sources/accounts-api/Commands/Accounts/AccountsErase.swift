import Accounts
import ArgumentParser
import Foundation

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
            if !yes { try Self.ask("Erase the account \(account.text.printable)? This cannot be undone. [y/N] ") }
            let id = try await flags.withOperator(writesAudit: true) { worker in
                let id = try await account.find(by: worker)
                guard try await worker.erase(id) else { throw account.notFound }
                return id
            }
            print(flags.json ? JSON.object([.init("erased", .string("\(id)"))]).text : "erased account \(id)")
        }

        /// Throws unless the person at the terminal agrees.
        private static func ask(_ question: String) throws {
            guard isatty(STDIN_FILENO) == 1 else { throw ValidationError("pass --yes: this cannot be undone") }
            FileHandle.standardError.write(Data(question.utf8))
            guard ["y", "yes"].contains(readLine()?.lowercased()) else {
                throw Refused(description: "nothing was erased")
            }
        }
    }
}
