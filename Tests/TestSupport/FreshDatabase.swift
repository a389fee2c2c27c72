internal import Accounts
internal import Foundation
package import Testing

/// A new database for one test, on the server in `TEST_DATABASE_URL`. It is dropped when the test ends.
///
///     @Suite("Proving the address", .freshDatabase)
package struct FreshDatabase: Sendable {
    /// A libpq connection string.
    package let conninfo: String

    @TaskLocal fileprivate static var ofTest: FreshDatabase?

    /// The database of the running test, which must have the trait `.freshDatabase` or `.emptyDatabase`.
    package static var current: FreshDatabase {
        guard let ofTest else {
            preconditionFailure("the test has neither the trait .freshDatabase nor .emptyDatabase")
        }
        return ofTest
    }
}

extension Trait where Self == FreshDatabaseTrait {
    /// Gives each test case a database with all migrations applied.
    package static var freshDatabase: Self { Self(isMigrated: true) }
    /// Gives each test case an empty database.
    package static var emptyDatabase: Self { Self(isMigrated: false) }
}

package struct FreshDatabaseTrait: TestTrait, SuiteTrait, TestScoping {
    fileprivate let isMigrated: Bool
    package let isRecursive = true

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        testCase == nil ? nil : self
    }

    @concurrent package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await ConcurrencyLimiter.databases.run {
            let server = try TestServer()
            let database = try await onThread { try server.makeDatabase(isMigrated: isMigrated) }
            let outcome: Result<Void, any Error>
            do {
                let fresh = FreshDatabase(conninfo: server.conninfo(of: database))
                outcome = .success(try await FreshDatabase.$ofTest.withValue(fresh, operation: function))
            } catch {
                outcome = .failure(error)
            }
            try await onThread { try server.drop(database) }
            try outcome.get()
        }
    }
}

/// The server on which the databases are created. All its functions block.
private struct TestServer: Sendable {
    struct Missing: Error, CustomStringConvertible {
        let description =
            "set TEST_DATABASE_URL to a PostgreSQL server for the tests, or use scripts/test, which starts one"
    }

    let conninfo: String

    init() throws {
        guard let conninfo = ProcessInfo.processInfo.environment["TEST_DATABASE_URL"], !conninfo.isEmpty else {
            throw Missing()
        }
        self.conninfo = conninfo
    }

    /// Appends the name of the database. In both forms of a connection string, libpq uses the last value of a key.
    func conninfo(of database: String) -> String {
        guard conninfo.hasPrefix("postgres://") || conninfo.hasPrefix("postgresql://") else {
            return conninfo + " dbname=\(database)"
        }
        return conninfo + (conninfo.contains("?") ? "&" : "?") + "dbname=\(database)"
    }

    func makeDatabase(isMigrated: Bool) throws -> String {
        let template = isMigrated ? try Self.template.get() : "template0"
        let name = "\(Self.prefix)_\(UUID().uuidString.lowercased().prefix(13))"
        try run("CREATE DATABASE \"\(name)\" TEMPLATE \"\(template)\"")
        return name
    }

    func drop(_ database: String) throws {
        try run("DROP DATABASE IF EXISTS \"\(database)\" WITH (FORCE)")
    }

    private func run(_ statement: String) throws {
        let connection = try Connection(to: conninfo)
        // The timeouts are long, because many concurrent tests slow the server down.
        try connection.run("SET statement_timeout = '300s'; SET lock_timeout = '300s'")
        try connection.run(statement)
    }

    /// The prefix of the names of databases. It is unique, because other processes may use the same server at the same
    /// time.
    private static let prefix = "test_\(getpid())_\(UInt32.random(in: 0...(.max)))"

    /// The name of the migrated template. It is created for the first test, and dropped when the process exits.
    private static let template = Result {
        let server = try TestServer()
        let name = "\(prefix)_template"
        try server.run("CREATE DATABASE \"\(name)\" TEMPLATE template0")
        atexit { try? TestServer().drop("\(TestServer.prefix)_template") }
        _ = try Migrations().apply(to: server.conninfo(of: name))
        return name
    }
}

/// Limits the number of concurrent tests with a database, because each needs several connections of the server. The
/// other tests wait in order of arrival.
private actor ConcurrencyLimiter {
    static let databases = ConcurrencyLimiter(maximum: 8)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(maximum: Int) {
        free = maximum
    }

    nonisolated func run(_ body: () async throws -> Void) async throws {
        await acquire()
        do {
            try await body()
        } catch {
            await release()
            throw error
        }
        await release()
    }

    private func acquire() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func release() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
