import Accounts
import ArgumentParser

extension AccountCommands {
    struct RemoveAuthenticator: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove-authenticator",
            abstract: "Removes the authenticator app of a person who has lost both the app and the recovery codes.",
            discussion: """
                Anybody can claim a loss: first prove the identity of the person, as your rules say. Removes the app \
                and the recovery codes, ends all sessions, forgets all devices, and mails a notice to every address of \
                the account. If the account has an address, no device can sign in with the password alone for at \
                least thirty days: each needs a mailed code first. The command asks first, or needs --yes. Writes an \
                audit record.

                EXAMPLE
                  accounts-api accounts remove-authenticator kim@example.com --yes
                """
        )

        @Argument(help: AccountReference.help) var account: AccountReference
        @Flag(help: "Does not ask.") var yes = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            if !yes {
                try Question.ask(
                    "Is the identity of the person proved? Remove the app of \(account.text.printable)? [y/N] ",
                    orRefuse: "nothing was removed"
                )
            }
            let (id, removal) = try await flags.withOperator(writesAudit: true) { admin in
                let id = try await account.find(by: admin)
                guard let removal = try await admin.removeAuthenticator(of: id) else { throw account.notFound }
                return (id, removal)
            }
            let json: JSON = [
                "id": .string("\(id)"), "changed": .bool(removal.hasChanged),
                "needs_mailed_code": .bool(removal.needsMailedCode),
            ]
            print(flags.json ? json.text : Self.text(id, removal))
        }

        private static func text(_ id: ID<Account>, _ removal: AuthenticatorRemoval) -> String {
            guard removal.hasChanged else { return "account \(id) has no authenticator app" }
            let next =
                removal.needsMailedCode
                ? "each device needs a mailed code before the password"
                : "the password alone signs in, because the account has no address"
            return "removed the authenticator app of account \(id): \(next)"
        }
    }
}
