import Accounts
import ArgumentParser
import Foundation

@main
struct AccountsAPI: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts-api",
        abstract: "A registration service: drafts become accounts.",
        discussion: """
            Settings come from the environment, or from flags of the same names: DATABASE_URL and, wherever drafts are read, \
            ACCOUNTS_KEYS. NAME_FILE reads a value from a file. FLOW_FILE is the flow of the servers, where it is not the \
            built-in one.

            EXIT CODES
              0 done, 1 refused or not found, 2 usage, 69 database unavailable

            EXAMPLES
              accounts-api serve --migrate
              accounts-api drafts list --state open
              accounts-api --generate-completion-script bash >/etc/bash_completion.d/accounts-api
            """,
        version: "\(version)\n\(Libraries.text)",
        subcommands: [
            Serve.self, Migrate.self, DraftCommands.self, AccountCommands.self, OutboxCommands.self, KeyCommands.self,
            FlowCommands.self, Argon2Commands.self, SettingsReference.self, ProblemsCommand.self, Healthcheck.self,
            ImageWorkerCommand.self,
        ]
    )

    /// Exit codes: 0 done, 1 refused or not found, 2 usage, 69 database unavailable.
    static func main() async {
        // Process 1 of a container gets no signal that it has no handler for. Whoever wants more than to end asks for it.
        for number in [SIGTERM, SIGINT] { signal(number) { _exit(128 + $0) } }
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as ExitCode {
            Foundation.exit(error.rawValue)
        } catch let error where exitCode(for: error) == .validationFailure {
            complain(fullMessage(for: error))
            Foundation.exit(2)
        } catch let mistakes as SettingMistakes {
            complain("\(mistakes)")
            Foundation.exit(2)
        } catch let error where exitCode(for: error) == .success {
            print(fullMessage(for: error))
        } catch {
            complain("\(error)")
            Foundation.exit(Self.isUnavailable(error) ? 69 : 1)
        }
    }

    private static func isUnavailable(_ error: any Error) -> Bool {
        switch error as? DatabaseError {
        case .unavailable, .outcomeUnknown: true
        default: false
        }
    }
}
