import Accounts
import ArgumentParser
import Foundation
import Logging

/// The flags of the commands that run with an ``Operator``.
struct OperatorFlags: ParsableArguments {
    @Option(\.databaseURL) var databaseURL: String?
    @Option(\.flow) var flowFile: String?
    @Option(name: .customLong("operator"), help: "Your name in audit records; the default is your login name.")
    var name: String?
    @Option(help: "The reason in audit records, such as the number of a ticket; at most 200 characters.")
    var reason: String?
    @Flag(help: "Prints whole tables, even if they are wider than the terminal.") var wide = false
    @Flag(help: "Prints JSON.") var json = false

    /// The end of the error message for a text with characters that are not allowed in a line.
    fileprivate static let badCharacters = "it has characters that are not allowed, such as control characters"

    func validate() throws {
        guard let reason else { return }
        guard (1...200).contains(reason.unicodeScalars.count) else {
            throw ValidationError("invalid --reason: pass a text of 1 to 200 characters")
        }
        if !reason.unicodeScalars.allSatisfy(\.isAllowedInLine) {
            throw ValidationError("invalid --reason \"\(reason.printable)\": \(Self.badCharacters)")
        }
    }

    /// Runs the body with an operator, and closes the connections to the database afterwards.
    ///
    /// If the key ring does not fit the database, searches by keyed digests would find nothing, and the servers could
    /// not read what the body encrypts. So this throws ``Refused`` if `writesAudit` is true, and otherwise prints a
    /// warning.
    ///
    /// - Parameters:
    ///   - writesAudit: whether the body writes an audit record, as each change does, and each search by an address or
    ///     a username. The name of the operator must then be valid.
    ///   - needsKeys: whether the body encrypts or decrypts anything, or searches for drafts or mails by an address or
    ///     a username. If false, `ACCOUNTS_KEYS` need not be set.
    ///   - showsSealed: whether the body shows the word "sealed" in place of a value that it cannot decrypt. If true,
    ///     `ACCOUNTS_KEYS` need not be set, even if `needsKeys` is true; without it, the command prints a warning, and
    ///     a body that searches by an address or a username must call ``Operator/checkKeys()`` first.
    ///   - hashing: the pool that hashes passwords; nil for commands that hash none.
    func withOperator<Value>(
        writesAudit: Bool = false,
        needsKeys: Bool = true,
        showsSealed: Bool = false,
        hashing: HashingPool? = nil,
        _ body: (Operator) async throws -> Value
    ) async throws -> Value {
        let name = name ?? Self.login
        if writesAudit { try Operator.check(name: name) }
        let source = SettingSource([\.databaseURL: databaseURL, \.flow: flowFile])
        source.warnOfPasswordInFlag(asJSON: json)
        let (databaseURL, keys, flow): (String, KeyRing?, Flow)
        if needsKeys, !showsSealed {
            (databaseURL, keys, flow) = try source.read(\.databaseURL, \.keys, \.flow)
        } else {
            (databaseURL, keys, flow) = try source.read(\.databaseURL, \.keys.ifSet, \.flow)
        }
        let database = Database(
            databaseURL,
            connections: 2,
            logger: Logger(label: "operator") { _ in SwiftLogNoOpLogHandler() }
        )
        do {
            try await Migrations().check(database)
            if let mismatch = try await keys?.mismatch(withServersOf: database) {
                let message = "\(mismatch): pass the keys of the servers"
                if writesAudit { throw Refused(description: message) }
                printWarning(message, asJSON: json)
            }
            let keys = keys ?? .empty
            let signups = Signups(
                flow: flow,
                serviceName: flow.serviceName ?? "Accounts",
                database: database,
                keys: keys,
                hashing: try hashing ?? HashingPool(workers: 0, queue: 0),
                images: .none,
                outbox: Outbox(keys: keys, languages: flow.knownLanguages)
            )
            let admin = Operator(signups, name: name, host: Machine.name, reason: reason)
            let outcome: Result<Value, any Error>
            do { outcome = .success(try await body(admin)) } catch { outcome = .failure(error) }
            // Write the funnel counts of the deleted drafts and accounts, even if the command failed after it had
            // deleted some.
            do {
                try await signups.funnel.flush(to: database)
            } catch {
                printWarning("the funnel may lack what this command has deleted: \(error)", asJSON: json)
            }
            let value = try outcome.get()
            if showsSealed, keys.isEmpty {
                printWarning("ACCOUNTS_KEYS is not set: encrypted values are shown as sealed", asJSON: json)
            }
            await database.shutdown()
            return value
        } catch {
            let failure = await Self.explained(error, by: database)
            await database.shutdown()
            throw failure
        }
    }

    /// Returns the error to report. If PostgreSQL refused a statement because the role lacks a privilege, this is a
    /// ``Refused`` that names the role and the document with the remedy. For any other error, or if the name of the
    /// role cannot be read, it is the same error.
    private static func explained(_ error: any Error, by database: Database) async -> any Error {
        guard (error as? DatabaseError)?.sqlState == "42501",
            let role = try? await database.server(within: .seconds(10)).role
        else { return error }
        return Refused(
            description: "permission denied: the role \(role.printable) may not do this; see docs/operating.md, "
                + "\"A role for each task\""
        )
    }

    /// The name of the user who is logged in, even if the command runs with `sudo`; empty if unknown.
    private static var login: String {
        let environment = ProcessInfo.processInfo.environment
        return ["SUDO_USER", "USER", "LOGNAME"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    }
}

extension Operator {
    /// Throws if the name cannot be used in an audit record.
    func checkName() throws {
        try Self.check(name: name)
    }

    /// Throws if there are no keys, without which a search finds no draft or mail: the database has keyed digests of
    /// their addresses and usernames.
    func checkKeys() throws {
        if hasKeys { return }
        throw SettingMistakes(all: [
            "ACCOUNTS_KEYS is missing: without it, sign-ups and mail cannot be found by an address or a username"
        ])
    }

    fileprivate static func check(name: String) throws {
        if name.isEmpty { throw ValidationError("pass --operator NAME: this command writes an audit record") }
        if !name.unicodeScalars.allSatisfy(\.isAllowedInLine) {
            throw ValidationError("invalid operator name \"\(name.printable)\": \(OperatorFlags.badCharacters)")
        }
    }
}

/// An argument that is an id.
struct IDArgument<Owner>: ExpressibleByArgument, Sendable {
    let id: ID<Owner>

    init?(argument: String) {
        guard let uuid = UUID(uuidString: argument) else { return nil }
        id = ID(uuid)
    }
}

/// An argument that is a duration, such as `90s`, `45m`, `12h` or `7d`.
struct DurationArgument: ExpressibleByArgument, Sendable {
    let duration: Duration
    /// The text of the argument. The help shows it if the argument is the default of an option.
    let defaultValueDescription: String

    init?(argument: String) {
        guard let duration = Duration(argument), duration > .zero else { return nil }
        self.duration = duration
        defaultValueDescription = argument
    }
}

/// The error if an object that the command names does not exist.
struct NotFound: Error, CustomStringConvertible {
    let description: String
}

/// The error if the command refuses what the operator asks for. The description says why.
struct Refused: Error, CustomStringConvertible {
    let description: String
}

extension Refused {
    /// The error if several ids begin with the digits.
    ///
    /// - Parameter noun: the plural noun for the items with these ids, such as "drafts".
    static func ambiguous(_ digits: String, _ count: Int, _ noun: String) -> Refused {
        Refused(description: "\(count) \(noun) have an id that begins with \"\(digits.printable)\": pass more digits")
    }
}

/// Returns a text such as "5 min ago" or "in 5 min", in the units of ``span(of:)``. A future time is rounded as in
/// ``timeLeft(from:to:)``.
func relative(_ date: Date, to now: Date) -> String {
    let isAhead = date.timeIntervalSince(now).rounded() > 0
    return isAhead ? "in \(timeLeft(from: now, to: date))" : "\(span(from: date, to: now)) ago"
}

/// Returns the time from now to a future date, such as "5 min", in the units of ``span(of:)``. It is rounded to the
/// nearest unit, so that a lifetime of 24 hours still reads "24 h" a few seconds after its start.
func timeLeft(from now: Date, to end: Date) -> String {
    let seconds = max(0, Int(end.timeIntervalSince(now).rounded()))
    let unit = seconds < 3570 ? 60 : seconds < 171_000 ? 3600 : 86_400
    return span(of: seconds < 60 ? seconds : (seconds + unit / 2) / unit * unit)
}

/// Returns the time between two dates, such as "5 min", in the units of ``span(of:)``.
func span(from start: Date, to end: Date) -> String {
    span(of: abs(Int(end.timeIntervalSince(start).rounded())))
}

/// Returns a number of seconds as a text such as "5 min", rounded down: in seconds below a minute, in minutes below an
/// hour, in hours below two days, and in days from then on.
func span(of seconds: Int) -> String {
    let (number, unit) =
        switch seconds {
        case ..<60: (seconds, 0)
        case ..<3600: (seconds / 60, 1)
        case ..<172_800: (seconds / 3600, 2)
        default: (seconds / 86_400, 3)
        }
    return "\(number) \(["s", "min", "h", "d"][unit])"
}

/// Returns a text such as "1 draft" or "3 drafts".
func counted(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
}
