import Accounts
import ArgumentParser
import Foundation
import Logging

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Applies the migrations that the database lacks.",
        discussion: """
            Several servers may run this at the same time: one applies the migrations, the others wait.

            EXAMPLES
              accounts-api migrate --status
              accounts-api migrate
            """
    )

    @Option(\.databaseURL) var databaseURL: String?
    @Flag(help: "Only lists applied and pending migrations; exits with 1 if any are pending.") var status = false
    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        let conninfo = try SettingSource([\.databaseURL: databaseURL]).read(\.databaseURL)
        if status {
            try await show(conninfo)
        } else {
            report(applied: try Migrations().apply(to: conninfo), pending: [])
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
        report(applied: status.applied, pending: status.pending)
        if !status.pending.isEmpty { throw ExitCode(1) }
    }

    private func report(applied: [String], pending: [String]) {
        if json {
            print(
                JSON.object([
                    .init("applied", .array(applied.map(JSON.string))),
                    .init("pending", .array(pending.map(JSON.string))),
                ]).text
            )
            return
        }
        for name in applied { print("\(name)  applied") }
        for name in pending { print("\(name)  pending") }
        if applied.isEmpty, pending.isEmpty { print("the schema is up to date") }
    }
}
