internal import Accounts
internal import Foundation
package import Testing

/// A database of the test's own, on the server that `TEST_DATABASE_URL` names; it is gone when the test ends.
///
///     @Suite("Proving the address", .freshDatabase)
package struct FreshDatabase: Sendable {
    /// A libpq connection string.
    package let conninfo: String

    @TaskLocal fileprivate static var lent: FreshDatabase?

    /// The database of the running test, which has to wear the trait `.freshDatabase`.
    package static var current: FreshDatabase {
        guard let lent else { preconditionFailure("the test has no trait .freshDatabase") }
        return lent
    }
}

extension Trait where Self == FreshDatabaseTrait {
    /// A database for each case, with all migrations applied.
    package static var freshDatabase: Self { Self(isMigrated: true) }
    /// A database for each case, without a table in it.
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
        try await Turnstile.databases.pass {
            let server = try TestServer()
            let database = try await onThread { try server.makeDatabase(isMigrated: isMigrated) }
            let outcome: Result<Void, any Error>
            do {
                let lent = FreshDatabase(conninfo: server.conninfo(of: database))
                outcome = .success(try await FreshDatabase.$lent.withValue(lent, operation: function))
            } catch {
                outcome = .failure(error)
            }
            try await onThread { try server.drop(database) }
            try outcome.get()
        }
    }
}

/// The server that lends the databases. All of this blocks.
private struct TestServer: Sendable {
    struct Missing: Error, CustomStringConvertible {
        let description = "TEST_DATABASE_URL names no PostgreSQL server for the tests; scripts/test starts one"
    }

    let conninfo: String

    init() throws {
        guard let conninfo = ProcessInfo.processInfo.environment["TEST_DATABASE_URL"], !conninfo.isEmpty else {
            throw Missing()
        }
        self.conninfo = conninfo
    }

    /// In both forms of a connection string, what comes last wins.
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
        // Many tests at once make a server slow.
        try connection.run("SET statement_timeout = '60s'; SET lock_timeout = '60s'")
        try connection.run(statement)
    }

    /// Other processes may use the same server at the same time.
    private static let prefix = "test_\(getpid())_\(UInt32.random(in: 0...(.max)))"

    /// Made when the first test asks, and dropped when the process exits.
    private static let template = Result {
        let server = try TestServer()
        let name = "\(prefix)_template"
        try server.run("CREATE DATABASE \"\(name)\" TEMPLATE template0")
        atexit { try? TestServer().drop("\(TestServer.prefix)_template") }
        _ = try Migrations().apply(to: server.conninfo(of: name))
        return name
    }
}

/// Lets so many through at once, in order of arrival: each test takes several connections, and a server has only so many.
private actor Turnstile {
    static let databases = Turnstile(places: 8)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) {
        free = places
    }

    nonisolated func pass(_ body: () async throws -> Void) async throws {
        await enter()
        do {
            try await body()
        } catch {
            await leave()
            throw error
        }
        await leave()
    }

    private func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func leave() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
