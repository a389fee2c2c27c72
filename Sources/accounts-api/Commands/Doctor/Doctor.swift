import Accounts
import ArgumentParser
import Logging

/// Checks an installation before people use it.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks the settings, the database, the mail server and this machine; exits with 1 if one is wrong.",
        discussion: """
            Takes the settings of "serve", and changes nothing. Prints a line for each check with its result: "ok"; \
            "warning" for what may be intended, such as mail that is printed instead of sent; "wrong"; or "skipped" \
            if the check is not possible from here.

            Exits with 1 if a check is wrong, even for invalid settings and an unavailable database, for which other \
            commands have other exit codes. If a setting is invalid, prints only what is wrong with the settings.

            A mail server that answers may still refuse every mail, for example because it does not know the sender. \
            --mail-to sends a test mail and prints the server's answer.

            EXAMPLES
              accounts-api doctor
              accounts-api doctor --json
              accounts-api doctor --mail-to me@example.com
            """
    )

    @OptionGroup var flags: SettingFlags
    @Option(help: "Sends a test mail from MAIL_FROM to this address.") var mailTo: String?
    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        let recipient = try mailTo.map(emailAddress)
        let findings = await Self.findings(flags.source, recipient)
        let isWrong = findings.contains { $0.state == .wrong }
        if json {
            print(JSON.object([.init("ok", .bool(!isWrong)), .init("findings", .array(findings.map(\.json)))]).text)
        } else {
            for finding in findings { print(finding.line) }
        }
        if isWrong { throw ExitCode(1) }
    }

    private static func findings(_ source: SettingSource, _ recipient: EmailAddress?) async -> [Finding] {
        let settings: Settings
        do throws(SettingMistakes) { settings = try Settings(source) } catch {
            return error.all.map { .wrong("settings", $0) }
        }
        let database = Database(
            settings.databaseURL,
            connections: 2,
            logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() }
        )
        let file = source.origin(of: "ACCOUNTS_KEYS").flatMap { ["flag", "environment"].contains($0) ? nil : $0 }
        let ofDatabase = await DatabaseCheckup(database: database, keys: settings.keys, keysFile: file).findings()
        await database.shutdown()
        return await settings.findings + ofDatabase + settings.findingsOfParts(mailingTo: recipient)
    }
}

/// The result of a check.
struct Finding: Sendable {
    enum State: String, Sendable {
        case ok, warning, wrong, skipped
    }

    /// The name of the check.
    let check: String
    let state: State
    let text: String
    /// The advice to the operator; nil if there is none, or if the text contains it.
    let remedy: String?

    private init(_ check: String, _ state: State, _ text: String, _ remedy: String?) {
        (self.check, self.state, self.text, self.remedy) = (check, state, text, remedy)
    }

    static func ok(_ check: String, _ text: String) -> Finding { Finding(check, .ok, text, nil) }
    static func warning(_ check: String, _ text: String, _ remedy: String? = nil) -> Finding {
        Finding(check, .warning, text, remedy)
    }
    static func wrong(_ check: String, _ text: String, _ remedy: String? = nil) -> Finding {
        Finding(check, .wrong, text, remedy)
    }
    static func skipped(_ check: String, _ reason: String = "the database is not usable") -> Finding {
        Finding(check, .skipped, reason, nil)
    }

    var line: String {
        func padded(_ word: String, to width: Int) -> String {
            word + String(repeating: " ", count: max(0, width - word.count))
        }
        let state = padded(self.state.rawValue, to: 7)
        let painted = Terminal.hasColours ? paint.on(state) : state
        return "\(painted)  \(padded(check, to: 10))  \((text + (remedy.map { "; \($0)" } ?? "")).printable)"
    }

    private var paint: Paint {
        switch state {
        case .ok, .skipped: .plain
        case .warning: .yellow
        case .wrong: .red
        }
    }

    var json: JSON {
        [
            "check": .string(check), "state": .string(state.rawValue), "text": .string(text),
            "remedy": remedy.map(JSON.string) ?? .null,
        ]
    }
}
