import Accounts
import ArgumentParser
import Foundation

@main
struct AccountsAPI: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts-api",
        abstract: "Runs and operates the sign-up service.",
        discussion: """
            Each command reads its settings from flags or from environment variables of the same names. NAME_FILE \
            names a file to read the value of NAME from. Commands that use the database need DATABASE_URL, and \
            FLOW_FILE if the servers do not use the built-in flow. Those that encrypt or decrypt, or search for a \
            draft or a mail by an address or a username, also need ACCOUNTS_KEYS. Without it, "drafts list", \
            "drafts show", "drafts why", "outbox list" and "outbox show" print "sealed" in place of encrypted values.

            EXIT CODES
              0 success, 1 refused, not found, or any other failure, 2 usage error or invalid settings,
              69 database unavailable, 75 a port is taken, or the file that a variable such as DATABASE_URL_FILE
              names cannot be read

            EXAMPLES
              accounts-api serve --migrate
              accounts-api drafts list --state open
              accounts-api --generate-completion-script bash >accounts-api.bash
            """,
        version: "\(BuildVersion.text)\n\(Libraries.text)",
        subcommands: [
            Serve.self, Migrate.self, Doctor.self, DraftCommands.self, AccountCommands.self, SessionCommands.self,
            AuditCommands.self, OutboxCommands.self, EventCommands.self, KeyCommands.self, FlowCommands.self,
            ApplicationCommands.self, BrandCommands.self, TextCommands.self, Argon2Commands.self,
            SettingsReference.self, ProblemsCommand.self, Healthcheck.self, ImageWorkerCommand.self,
        ]
    )

    /// Runs the command. Exits with 0 for success, 2 for a usage error or invalid settings, 69 if the database is
    /// unavailable, 75 if a port of the server is taken or the file that a variable such as `DATABASE_URL_FILE` names
    /// cannot be read, so that a later attempt may succeed, and 1 for any other failure, such as a refused request.
    /// With `--json`, prints an error as JSON.
    static func main() async {
        // The kernel does not deliver a signal to process 1 of a container unless the process handles it. Commands that
        // shut down gracefully replace these handlers.
        for number in [SIGTERM, SIGINT] { signal(number) { _exit(128 + $0) } }
        var path: String?
        do {
            try checkHelp()
            var command = try parseAsRoot()
            path = Self.path(to: type(of: command))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as ExitCode {
            Foundation.exit(error.rawValue)
        } catch let error where exitCode(for: error) == .success {
            print(fullMessage(for: error))
        } catch {
            let failure = CommandFailure(error, of: Self.self, in: path)
            printError(wantsJSON ? failure.json.text : failure.text)
            Foundation.exit(failure.exit)
        }
    }

    /// Throws if the arguments ask for the help of a command that does not exist.
    private static func checkHelp() throws {
        let words = CommandLine.arguments.dropFirst().prefix { !$0.hasPrefix("-") }
        guard words.first == "help" else { return }
        var commands = configuration.subcommands
        for word in words.dropFirst() {
            guard let command = commands.first(where: { $0._commandName == word }) else {
                throw ValidationError("unknown command \"\(word.printable)\"")
            }
            commands = command.configuration.subcommands
        }
    }

    /// The words with which a command is called, such as `accounts-api drafts list`; nil if there is no such command.
    private static func path(
        to command: any ParsableCommand.Type,
        from root: any ParsableCommand.Type = Self.self
    ) -> String? {
        if root == command { return root._commandName }
        for subcommand in root.configuration.subcommands {
            if let rest = path(to: command, from: subcommand) { return "\(root._commandName) \(rest)" }
        }
        return nil
    }

    /// Whether `--json` was given, even if the other arguments are wrong.
    private static var wantsJSON: Bool { CommandLine.arguments.prefix { $0 != "--" }.contains("--json") }
}
