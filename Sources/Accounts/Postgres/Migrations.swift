internal import Crypto
internal import Foundation
package import Schema

package enum MigrationError: Error, CustomStringConvertible {
    /// A migration that was applied reads differently now.
    case edited(String)
    /// The database has a migration that this program does not know: a newer version was here.
    case unknown(String)
    /// The database lacks migrations that this program needs.
    case missing([String])
    /// The server refused it; nothing of it is left unless its script ended the transaction itself.
    case failed(String, DatabaseError)

    package var description: String {
        switch self {
        case .edited(let name): "migration \(name) was changed after it had been applied"
        case .unknown(let name): "the database has migration \(name), which this version does not know"
        case .missing(let names): "the database lacks \(names.joined(separator: ", ")): run accounts-api migrate"
        case .failed(let name, let error): "migration \(name) failed: \(error)"
        }
    }
}

/// Brings a database to the schema that this program knows. Forward only.
///
/// Each migration is one transaction, with an advisory lock in it that lets one program at a time do it, and checksums
/// notice a file that was edited after it had been applied. Nothing is left in the session, so a pooler may stand between.
package struct Migrations: Sendable {
    private let known: [Schema.Migration]

    package init(_ known: [Schema.Migration] = Schema.migrations) {
        self.known = known
    }

    package struct Status: Sendable {
        package let applied: [String]
        package let pending: [String]
    }

    /// Applies what is missing and returns the names in order. Blocks, on a connection of its own.
    ///
    /// Throws ``MigrationError``, or ``DatabaseError`` where the server is away.
    package func apply(to conninfo: String) throws -> [String] {
        let connection = try Connection(to: conninfo)
        try connection.run(
            """
            \(Self.turn);
            CREATE TABLE IF NOT EXISTS migrations (
                name text NOT NULL PRIMARY KEY, checksum bytea NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
            );
            COMMIT
            """
        )
        var names: [String] = []
        while let name = try applyNext(on: connection) { names.append(name) }
        return names
    }

    /// Nil where nothing is missing.
    private func applyNext(on connection: borrowing Connection) throws -> String? {
        try connection.run(Self.turn)
        guard let migration = try pending(after: connection.query(Self.applied)).first else {
            try connection.commit()
            return nil
        }
        do throws(DatabaseError) {
            try apply(migration, on: connection)
            return migration.name
        } catch {
            // Without an answer nobody knows what is left; the next run will.
            switch error {
            case .unavailable, .outcomeUnknown, .cancelled: throw error
            case .refused, .unexpectedAnswer: throw MigrationError.failed(migration.name, error)
            }
        }
    }

    private func apply(_ migration: Schema.Migration, on connection: borrowing Connection) throws(DatabaseError) {
        try connection.run(String(decoding: migration.script, as: UTF8.self))
        guard connection.isInTransaction else {
            throw .unexpectedAnswer("the script ends the transaction that it is part of")
        }
        _ = try connection.query(
            "INSERT INTO migrations (name, checksum) VALUES (\(migration.name), \(migration.checksum))"
        )
        try connection.commit()
    }

    /// What was applied and what is missing. Throws as ``apply(to:)`` does.
    package func status(of database: Database) async throws -> Status {
        let rows: Rows
        do throws(DatabaseError) {
            rows = try await database.read(Self.applied)
        } catch {
            // Undefined table: nothing was ever applied.
            guard error.sqlState == "42P01" else { throw error }
            return Status(applied: [], pending: known.map(\.name))
        }
        let pending = try pending(after: rows).map(\.name)
        return Status(applied: known.map(\.name).filter { !pending.contains($0) }, pending: pending)
    }

    /// Throws unless the database has exactly the migrations that this program knows.
    package func check(_ database: Database) async throws {
        let pending = try await status(of: database).pending
        guard pending.isEmpty else { throw MigrationError.missing(pending) }
    }

    /// Refuses edited and unknown migrations; returns those still to come.
    private func pending(after rows: Rows) throws -> [Schema.Migration] {
        var applied: [String: [UInt8]] = [:]
        for row in rows {
            let (name, checksum) = try row.decode(String.self, [UInt8].self)
            guard let migration = known.first(where: { $0.name == name }) else { throw MigrationError.unknown(name) }
            guard migration.checksum == checksum else { throw MigrationError.edited(name) }
            applied[name] = checksum
        }
        return known.filter { applied[$0.name] == nil }
    }

    private static let applied: SQL = "SELECT name, checksum FROM migrations ORDER BY name"
    /// Any number will do, as long as nobody else takes it in this database.
    private static let lock = 0x6163_636F_756E_7473
    /// Begins the transaction of the one program whose turn it is.
    /// It takes as long as it takes, also where a pooler gives every session bounds.
    private static let turn = """
        BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(\(lock))
        """
}

extension Schema.Migration {
    fileprivate var checksum: [UInt8] { Array(SHA256.hash(data: script)) }
}
