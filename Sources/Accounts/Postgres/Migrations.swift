internal import Crypto
internal import Foundation
internal import Schema

/// Why the schema of a database cannot be updated to the one of this program, or differs from it.
package enum MigrationError: Error, CustomStringConvertible {
    /// The file of an applied migration has changed.
    case edited(String)
    /// The database has a migration that this program does not know, because a newer version applied it.
    case unknown(String)
    /// The database lacks these migrations or functions, or has another version of a function.
    case missing([String])
    /// The server refused the script and rolled it back, unless the script had ended the transaction itself.
    case failed(String, DatabaseError)

    package var description: String {
        switch self {
        case .edited(let name): "migration \(name) was changed after it was applied"
        case .unknown(let name):
            "the database has migration \(name), which this version does not know: install a newer version"
        case .missing(let names):
            "the database lacks \(names.joined(separator: ", ")) of this version: run accounts-api migrate"
        case .failed(let name, let error): "cannot apply \(name): \(error)"
        }
    }
}

/// Updates the schema of a database: first the migrations, then the functions.
///
/// Migrations only go forward: each is applied once, and its checksum detects a file that was edited afterwards.
/// Functions are replaced: one whose checksum differs from the file's is applied again.
///
/// Each script is one transaction, with an advisory lock that admits one program at a time. It keeps no session state,
/// so it works through a connection pooler.
package struct Migrations: Sendable {
    private let migrations: [Schema.Script]
    private let functions: [Schema.Script]

    /// The migrations and functions of this program.
    package init() {
        self.init(Schema.migrations, functions: Schema.functions)
    }

    init(_ migrations: [Schema.Script], functions: [Schema.Script] = []) {
        self.migrations = migrations
        self.functions = functions
    }

    /// The names of migrations, then those of functions, in the form `functions/draft_id_floor`.
    package struct Status: Sendable {
        package let applied: [String]
        package let pending: [String]
    }

    /// Applies the missing scripts and returns their names in order. Uses its own connection. Blocks.
    ///
    /// Throws ``MigrationError``, or ``DatabaseError`` if the server cannot be reached.
    package func apply(to conninfo: String) throws -> [String] {
        let connection = try Connection(to: conninfo)
        try connection.run(
            """
            \(Self.beginWithLock);
            CREATE TABLE IF NOT EXISTS migrations (
                name text NOT NULL PRIMARY KEY, checksum bytea NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
            );
            CREATE TABLE IF NOT EXISTS functions (
                name text NOT NULL PRIMARY KEY, checksum bytea NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
            );
            COMMIT
            """
        )
        var names: [String] = []
        while let name = try applyNext(on: connection) { names.append(name) }
        return names
    }

    /// Applies the next missing script and returns its name; nil if nothing is missing.
    private func applyNext(on connection: borrowing Connection) throws -> String? {
        try connection.run(Self.beginWithLock)
        let scripts = try scripts(
            after: connection.query(Self.appliedMigrations),
            and: connection.query(Self.appliedFunctions)
        )
        guard let next = scripts.first(where: { !$0.isApplied }) else {
            try connection.commit()
            return nil
        }
        do throws(DatabaseError) {
            try apply(next, on: connection)
            return next.name
        } catch {
            // After a lost connection the outcome is unknown; the next run finds out.
            switch error {
            case .unavailable, .outcomeUnknown, .cancelled: throw error
            case .refused, .unexpectedAnswer: throw MigrationError.failed(next.name, error)
            }
        }
    }

    private func apply(_ script: KnownScript, on connection: borrowing Connection) throws(DatabaseError) {
        try connection.run(String(decoding: script.file.bytes, as: UTF8.self))
        guard connection.isInTransaction else {
            throw .unexpectedAnswer("the script must not end its transaction")
        }
        let (name, checksum) = (script.file.name, script.file.checksum)
        let record: SQL =
            if script.isFunction {
                """
                INSERT INTO functions (name, checksum) VALUES (\(name), \(checksum))
                ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, applied_at = excluded.applied_at
                """
            } else {
                "INSERT INTO migrations (name, checksum) VALUES (\(name), \(checksum))"
            }
        _ = try connection.query(record)
        try connection.commit()
    }

    /// Returns the applied and the missing scripts. Throws as ``apply(to:)`` does.
    package func status(of database: Database) async throws -> Status {
        let scripts = try await scripts(
            after: rows(Self.appliedMigrations, of: database),
            and: rows(Self.appliedFunctions, of: database)
        )
        return Status(
            applied: scripts.filter(\.isApplied).map(\.name),
            pending: scripts.filter { !$0.isApplied }.map(\.name)
        )
    }

    /// Empty if the table does not exist (undefined_table), because no script was ever applied.
    private func rows(_ statement: SQL, of database: Database) async throws(DatabaseError) -> [Row] {
        do throws(DatabaseError) {
            return try await Array(database.read(statement))
        } catch {
            guard error.sqlState == "42P01" else { throw error }
            return []
        }
    }

    /// Throws unless the database has exactly the migrations and the functions of this program.
    package func check(_ database: Database) async throws {
        let pending = try await status(of: database).pending
        guard pending.isEmpty else { throw MigrationError.missing(pending) }
    }

    /// A script of this program, and whether the database has it.
    private struct KnownScript {
        let file: Schema.Script
        let isFunction: Bool
        let isApplied: Bool

        var name: String { isFunction ? "functions/\(file.name)" : file.name }
    }

    /// All scripts in the order in which they are applied. Refuses edited and unknown migrations.
    ///
    /// An unknown function is ignored: a newer version may have added it, and this one does not call it.
    private func scripts(after migrationRows: some Sequence<Row>, and functionRows: some Sequence<Row>) throws
        -> [KnownScript]
    {
        var appliedMigrations: Set<String> = []
        for row in migrationRows {
            let (name, checksum) = try row.decode(String.self, [UInt8].self)
            guard let file = migrations.first(where: { $0.name == name }) else { throw MigrationError.unknown(name) }
            guard file.checksum == checksum else { throw MigrationError.edited(name) }
            appliedMigrations.insert(name)
        }
        var appliedFunctions: [String: [UInt8]] = [:]
        for row in functionRows {
            let (name, checksum) = try row.decode(String.self, [UInt8].self)
            appliedFunctions[name] = checksum
        }
        let migrations = migrations.map { file in
            KnownScript(file: file, isFunction: false, isApplied: appliedMigrations.contains(file.name))
        }
        let functions = functions.map { file in
            KnownScript(file: file, isFunction: true, isApplied: appliedFunctions[file.name] == file.checksum)
        }
        return migrations + functions
    }

    private static let appliedMigrations: SQL = "SELECT name, checksum FROM migrations ORDER BY name"
    /// A row counts only while a function of that name exists: a migration may have dropped it.
    private static let appliedFunctions: SQL = """
        SELECT name, checksum FROM functions
         WHERE EXISTS (SELECT FROM pg_proc WHERE proname = functions.name AND pg_function_is_visible(pg_proc.oid))
        """
    /// An arbitrary number that no other program locks in this database.
    private static let lock = 0x6163_636F_756E_7473
    /// Begins a transaction and waits for the lock, without the timeouts that a pooler may give to every session.
    private static let beginWithLock = """
        BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(\(lock))
        """
}

extension Schema.Script {
    fileprivate var checksum: [UInt8] { Array(SHA256.hash(data: bytes)) }
}
