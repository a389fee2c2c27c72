import Accounts
import ArgumentParser
import Foundation

@main
struct AccountsAPI: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts-api",
        abstract: "A registration service: drafts become accounts.",
        version: "0.1.0",
        subcommands: [
            Serve.self, Migrate.self, DraftCommands.self, AccountCommands.self, OutboxCommands.self, KeyCommands.self,
            FlowCommands.self, Healthcheck.self,
        ]
    )

    /// Exit codes: 0 done, 1 refused or not found, 2 usage, 69 database unavailable.
    static func main() async {
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

/// Says on standard error what went wrong.
func complain(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
}
