import Accounts
import Foundation
import TestSupport
import Testing

/// A database in a separate PostgreSQL cluster, set up as docs/operating.md says.
struct Installation {
    private let base: String

    /// - Parameter isMigrated: whether the owner has migrated the database.
    static func with(isMigrated: Bool = true, _ body: (Installation) async throws -> Void) async throws {
        try await Cluster.withRunning { cluster in
            let blocks = try setup()
            try #require(blocks.count == 3)
            let administrator = try DatabaseSession(to: cluster.conninfo)
            for statement in blocks[0] { try administrator.run(statement) }
            let installation = Installation(base: cluster.conninfo + " dbname=accounts")
            for statement in blocks[1] { try installation.session(as: "accounts").run(statement) }
            if isMigrated { try await installation.migrate() }
            try await body(installation)
        }
    }

    /// The statements of the SQL blocks in the section "A role for each task" of docs/operating.md.
    private static func setup() throws -> [[String]] {
        let text = try String(contentsOf: Repository.root.appending(path: "docs/operating.md"), encoding: .utf8)
        let section = try #require(text.split(separator: "\n### A role for each task\n").dropFirst().first)
        let end = section.range(of: "\n## ")?.lowerBound ?? section.endIndex
        return section[..<end].matches(of: /```sql\n([^`]*)```/).map { block in
            block.1.split(separator: "\n").filter { !$0.hasPrefix("--") }.map(String.init)
        }
    }

    private init(base: String) { self.base = base }

    /// The connection of a superuser.
    var administrator: String { base }

    func conninfo(as role: String) -> String { "\(base) user=\(role)" }

    func session(as role: String) throws -> DatabaseSession { try DatabaseSession(to: conninfo(as: role)) }

    func migrate() async throws {
        let conninfo = conninfo(as: "accounts_owner")
        _ = try await onThread { try Migrations().apply(to: conninfo) }
    }

    /// Creates the role `support`, as the last of these blocks does.
    func addSupport() throws {
        let administrator = try session(as: "accounts")
        for statement in try Self.setup()[2] { try administrator.run(statement) }
    }

    /// Runs a command of an operator.
    func command(_ arguments: [String], keys: String = TestSignups.keys) async throws -> CommandRun {
        try await CommandRun.of(
            arguments,
            settings: ["DATABASE_URL": conninfo(as: "mina"), "ACCOUNTS_KEYS": keys, "USER": "mina"]
        )
    }
}
