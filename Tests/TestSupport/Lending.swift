package import Accounts
package import Logging

extension Logger {
    /// A logger that discards everything, for code under test.
    package static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

/// Lends a client of the test's database, and shuts it down afterwards.
@discardableResult
package func withDatabase<Value>(
    _ conninfo: String = FreshDatabase.current.conninfo,
    connections: Int = 2,
    queue: Int = 4096,
    timeouts: StatementTimeouts = .lavish,
    _ body: (Database) async throws -> Value
) async throws -> Value {
    let database = Database(conninfo, connections: connections, queue: queue, timeouts: timeouts, logger: .silent)
    do {
        let value = try await body(database)
        await database.shutdown()
        return value
    } catch {
        await database.shutdown()
        throw error
    }
}
