import Accounts
import ArgumentParser
import Foundation
import Logging

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Applies the migrations and SQL functions that the database lacks.",
        discussion: """
            Several servers may run this at the same time: one of them applies a script while the others wait. Each \
            run also gives the roles accounts_serve and accounts_operate their privileges.

            SQL functions that a newer version has applied are not replaced, because this version can call them, too.

            EXAMPLES
              accounts-api migrate --status
              accounts-api migrate
              accounts-api migrate --replace-newer-functions
            """
    )

    @Option(\.databaseURL) var databaseURL: String?
    @Flag(help: "Only lists migrations and functions with their states; exits with 1 if any are pending.")
    var status = false
    @Flag(help: "Also replaces functions that a newer version has applied, by those of this version.")
    var replaceNewerFunctions = false
    @Flag(help: "Prints JSON.") var json = false

    func validate() throws {
        if status, replaceNewerFunctions {
            throw ValidationError("pass either --status or --replace-newer-functions, not both")
        }
    }

    func run() async throws {
        let source = SettingSource([\.databaseURL: databaseURL])
        source.warnOfPasswordInFlag(asJSON: json)
        let conninfo = try source.read(\.databaseURL)
        if status {
            try await show(conninfo)
        } else {
            let applied = try Migrations().apply(to: conninfo, replacesNewerFunctions: replaceNewerFunctions)
            let compatible = applied.filter(\.isCompatible).map(\.name)
            report(.init(applied: applied.map(\.name), compatible: compatible), applied)
        }
    }

    private func show(_ conninfo: String) async throws {
        let database = Database(
            conninfo,
            connections: 2,
            logger: Logger(label: "migrate") { _ in SwiftLogNoOpLogHandler() }
        )
        let status: Migrations.Status
        do {
            status = try await Migrations().status(of: database)
        } catch {
            await database.shutdown()
            throw error
        }
        await database.shutdown()
        report(status)
        if !status.pending.isEmpty { throw ExitCode(1) }
    }

    /// - Parameter applied: the scripts that this command has applied, with the duration of each; nil if the command
    ///   only lists scripts.
    private func report(_ status: Migrations.Status, _ applied: [Migrations.Applied]? = nil) {
        let lists = [("applied", status.applied), ("pending", status.pending), ("newer", status.newer)]
        if json {
            let all = lists + [("compatible", status.compatible)]
            let members = all.map { JSON.Member($0, .array($1.map(JSON.string))) }
            let seconds = applied.map { JSON.object($0.map { .init($0.name, .number($0.milliseconds / 1000)) }) }
            let known = lists.flatMap(\.1)
            let times = known.compactMap { name in
                status.times[name].map { JSON.Member(name, .string($0.timestamp)) }
            }
            let appliedAt = applied == nil ? JSON.object(times) : .null
            print(JSON.object(members + [.init("seconds", seconds ?? .null), .init("applied_at", appliedAt)]).text)
            return
        }
        let times: [String: String] =
            if let applied {
                Dictionary(uniqueKeysWithValues: applied.map { ($0.name, " in \($0.text)") })
            } else { status.times.mapValues { " \($0.timestamp)" } }
        let width = lists.flatMap(\.1).map(\.count).max() ?? 0
        for (state, names) in lists {
            for name in names {
                let gap = String(repeating: " ", count: width - name.count + 2)
                let note = applied == nil && status.compatible.contains(name) ? ", compatible" : ""
                print("\(name)\(gap)\(state)\(times[name] ?? "")\(note)")
            }
        }
        if lists.allSatisfy({ $0.1.isEmpty }) { print("the schema is up to date") }
    }
}

extension Migrations.Applied {
    /// The duration in whole milliseconds.
    fileprivate var milliseconds: Double { (time / .milliseconds(1)).rounded() }
    /// The duration, such as "0.03 s".
    fileprivate var text: String { String(format: "%.2f s", time / .seconds(1)) }
}
