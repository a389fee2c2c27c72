import Accounts
import ArgumentParser
import Foundation
import Logging

/// What every command needs that looks at drafts and accounts.
struct OperatorFlags: ParsableArguments {
    @Option(help: .of(.databaseURL)) var databaseUrl: String?
    @Option(help: .of(.flowFile), completion: .file(extensions: ["yaml", "yml"]))
    var flowFile: String?
    @Option(name: .customLong("operator"), help: "Who the audit says you are; who is logged in where it is left out.")
    var name: String?
    @Flag(help: "Answers in JSON.") var json = false

    /// Lends an operator, and closes the database afterwards.
    ///
    /// - Parameter leavesTrace: whether the audit will name them, so that a name there has to be.
    func withOperator<Value>(
        leavesTrace: Bool = false,
        _ body: (Operator) async throws -> Value
    ) async throws -> Value {
        let name = name ?? Self.login
        if leavesTrace { try Operator.check(name: name) }
        let settings = try OperatorSettings(SettingSource([.databaseURL: databaseUrl, .flowFile: flowFile]))
        let database = Database(
            settings.databaseURL,
            connections: 2,
            logger: Logger(label: "operator") { _ in SwiftLogNoOpLogHandler() }
        )
        do {
            try await Migrations().check(database)
            let signups = Signups(
                flow: settings.flow,
                serviceName: settings.flow.serviceName ?? "Accounts",
                database: database,
                keys: settings.keys,
                // Nothing is hashed here.
                hashing: try HashingPool(workers: 0, queue: 0),
                images: .none,
                outbox: Outbox(keys: settings.keys)
            )
            let outcome: Result<Value, any Error>
            do { outcome = .success(try await body(Operator(signups, name: name))) } catch { outcome = .failure(error) }
            // What the operator ended is in the funnel as well, also where not all of it was ended.
            try await signups.funnel.flush(to: database)
            let value = try outcome.get()
            await database.shutdown()
            return value
        } catch {
            await database.shutdown()
            throw error
        }
    }

    /// Who is at the keyboard, also behind `sudo`.
    private static var login: String {
        let environment = ProcessInfo.processInfo.environment
        return ["SUDO_USER", "USER", "LOGNAME"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    }
}

extension Operator {
    /// Throws where the audit would not know who it is.
    func checkName() throws {
        try Self.check(name: name)
    }

    fileprivate static func check(name: String) throws {
        if name.isEmpty || !name.unicodeScalars.allSatisfy(\.isAllowedInLine) {
            throw ValidationError("the audit wants to know who you are: say it with --operator")
        }
    }
}

/// The id that a command was given.
struct Identity<Owner>: ExpressibleByArgument, Sendable {
    let id: ID<Owner>

    init?(argument: String) {
        guard let uuid = UUID(uuidString: argument) else { return nil }
        id = ID(uuid)
    }
}

/// A time such as `90s`, `45m`, `12h` or `7d`.
struct Period: ExpressibleByArgument, Sendable {
    let duration: Duration
    /// As it was written.
    let defaultValueDescription: String

    init?(argument: String) {
        guard let duration = Duration(argument), duration > .zero else { return nil }
        self.duration = duration
        defaultValueDescription = argument
    }
}

/// What was asked for is not there.
struct NotFound: Error, CustomStringConvertible {
    let description: String
}

extension Language {
    /// That of the terminal, from the environment as POSIX has it.
    static var ofTerminal: Language {
        let environment = ProcessInfo.processInfo.environment
        let locale = ["LC_ALL", "LC_TIME", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        return locale.hasPrefix("ko") ? .korean : .english
    }
}

/// How long ago, or how long until then, in the largest unit that fits.
func relative(_ date: Date, to now: Date, in language: Language = .ofTerminal) -> String {
    let isAhead = date.timeIntervalSince(now).rounded() > 0
    let text = span(from: now, to: date, in: language)
    return switch language {
    case .english: isAhead ? "in \(text)" : "\(text) ago"
    case .korean: isAhead ? "\(text) 후" : "\(text) 전"
    }
}

/// The time between the two, in the largest unit that fits.
func span(from start: Date, to end: Date, in language: Language = .ofTerminal) -> String {
    span(of: abs(Int(end.timeIntervalSince(start).rounded())), in: language)
}

func span(of seconds: Int, in language: Language = .ofTerminal) -> String {
    let (number, unit) =
        switch seconds {
        case ..<60: (seconds, 0)
        case ..<3600: (seconds / 60, 1)
        case ..<172_800: (seconds / 3600, 2)
        default: (seconds / 86_400, 3)
        }
    return switch language {
    case .english: "\(number) \(["s", "min", "h", "d"][unit])"
    case .korean: "\(number)\(["초", "분", "시간", "일"][unit])"
    }
}
