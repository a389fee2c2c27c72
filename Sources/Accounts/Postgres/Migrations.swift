internal import Crypto
package import Foundation
internal import Schema

/// Why the schema of a database differs from the schema of this program, or cannot be updated to it.
package enum MigrationError: Error, CustomStringConvertible {
    /// The file of an applied migration has changed.
    case edited(String)
    /// A newer version has applied this migration, which this program does not have. The database has not recorded the
    /// migration as compatible (``Migrations/Status/compatible``).
    case unknown(String)
    /// The migrations that the database lacks, and the functions that it lacks or has with another text. Leaves out the
    /// functions whose text is that of a newer version.
    case missing([String])
    /// PostgreSQL refused what the string names and rolled it back, or a script has ended its transaction itself. The
    /// string names a script, the tables that record the scripts, or the privileges of the roles. `reason` describes
    /// the error.
    case failed(String, DatabaseError, reason: String)

    /// - Parameter script: the text of the script, in which the error may have a line; empty for statements of this
    ///   program.
    fileprivate init(_ name: String, _ error: DatabaseError, in script: String) {
        let reason =
            if case .refused(let diagnosis) = error { diagnosis.explanation(of: script) } else { "\(error)" }
        self = .failed(name, error, reason: reason)
    }

    private static let remedies = [
        "42501": "run migrate as the owner of the tables and functions; ALTER … OWNER TO changes a wrong owner",
        "42P07": "a table or index of this name was made by hand: rename or drop it, and migrate again",
    ]

    package var description: String {
        switch self {
        case .edited(let name): "migration \(name) was changed after it was applied"
        case .unknown(let name):
            "the database has migration \(name), on which this version cannot serve: install a newer version"
        case .missing(let names):
            "the database lacks \(names.joined(separator: ", ")) of this version: run accounts-api migrate"
        case .failed(let name, let error, let reason):
            "cannot apply \(name): \(reason)" + (Self.remedies[error.sqlState ?? ""].map { "; \($0)" } ?? "")
        }
    }
}

/// The migrations and functions of a program. Checks whether a database has them, and updates its schema: first the
/// migrations, then the functions, then the privileges of the roles.
///
/// Migrations only go forward: each is applied once, and its checksum detects a file that was edited afterwards. This
/// program can serve on a schema that has newer migrations if the database has recorded all of them as compatible.
/// Functions are replaced: a function is applied again if the checksum of its file has changed, unless a program with a
/// newer version of the functions has applied it.
///
/// Each script runs in one transaction, with an advisory lock that admits one program at a time. The scripts depend on
/// no state of the session, so they work through a connection pooler.
package struct Migrations: Sendable {
    private let migrations: [Schema.Script]
    private let functions: [Schema.Script]
    private let functionsVersion: Int
    private let lockWait: LockWait

    /// The maximum wait of a script for a lock, and the number of attempts. While a script waits for the lock of a
    /// table, later statements on that table may have to wait behind it. So the script gives up before the grouped
    /// statements of a server do (200 ms, ``StatementTimeouts/groupedLock``), and is tried again later. Statements that
    /// run alone give up earlier (100 ms), but then run again with a longer timeout.
    struct LockWait {
        /// The maximum wait for one lock.
        var timeout = Duration.milliseconds(150)
        /// The time between two attempts.
        var pause = Duration.seconds(1)
        /// The maximum number of attempts.
        var attempts = 60
    }

    /// The migrations and functions of this program.
    package init() {
        self.init(Schema.migrations, functions: Schema.functions, version: Schema.functionsVersion)
    }

    init(
        _ migrations: [Schema.Script],
        functions: [Schema.Script] = [],
        version functionsVersion: Int = 0,
        lockWait: LockWait = LockWait()
    ) {
        self.migrations = migrations
        self.functions = functions
        self.functionsVersion = functionsVersion
        self.lockWait = lockWait
    }

    /// The scripts of this program, and the newer ones of the database, by state. Each of the first three lists has the
    /// names of migrations, then the names of functions in the form `functions/draft_id_floor`. No list has functions
    /// that only a newer version has.
    package struct Status: Sendable {
        package let applied: [String]
        package let pending: [String]
        /// The scripts that a newer version has applied. This program can serve on the schema that they made.
        package let newer: [String]
        /// The migrations of the three lists that are marked as compatible: the version before such a migration can
        /// still serve after it.
        package let compatible: [String]
        /// The times at which the applied and the newer scripts were applied, by name. A function that was replaced has
        /// the time of its last text.
        package let times: [String: Date]

        package init(
            applied: [String],
            pending: [String] = [],
            newer: [String] = [],
            compatible: [String] = [],
            times: [String: Date] = [:]
        ) {
            (self.applied, self.pending, self.newer, self.compatible) = (applied, pending, newer, compatible)
            self.times = times
        }
    }

    /// A script that ``apply(to:replacesNewerFunctions:)`` has applied.
    package struct Applied: Sendable {
        /// As in ``Status``.
        package let name: String
        /// The time from the start of the script to the end of its transaction, without earlier attempts.
        package let time: Duration
        /// Whether the version before can still serve after this script, as in ``Status/compatible``.
        package let isCompatible: Bool
    }

    /// Applies the missing scripts, grants the privileges of the roles, and returns the scripts that it has applied, in
    /// order. Uses its own connection. Blocks.
    ///
    /// Throws ``MigrationError``, or ``DatabaseError``, for example if PostgreSQL cannot be reached or the connection
    /// is lost.
    ///
    /// - Parameter replacesNewerFunctions: whether functions of a newer version are replaced, too.
    package func apply(to conninfo: String, replacesNewerFunctions: Bool = false) throws -> [Applied] {
        let connection = try Connection(to: conninfo)
        try patiently(on: connection, createTables)
        var applied: [Applied] = []
        while let next = try patiently(
            on: connection,
            { connection in try applyNext(on: connection, replacesNewerFunctions: replacesNewerFunctions) }
        ) { applied.append(next) }
        if functions.contains(where: { $0.name == "grant_to_roles" }) { try patiently(on: connection, grantToRoles) }
        return applied
    }

    private func createTables(on connection: borrowing Connection) throws {
        do throws(DatabaseError) {
            try addTables(on: connection)
        } catch {
            guard error.sqlState != nil else { throw error }
            throw MigrationError("the tables of the migrations", error, in: "")
        }
    }

    private func addTables(on connection: borrowing Connection) throws(DatabaseError) {
        try connection.run(
            """
            \(beginWithLock);
            CREATE TABLE IF NOT EXISTS migrations (
                name text NOT NULL PRIMARY KEY, checksum bytea NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
            );
            CREATE TABLE IF NOT EXISTS functions (
                name text NOT NULL PRIMARY KEY, checksum bytea NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
            )
            """
        )
        let hasColumns = try !connection.query(
            "SELECT FROM pg_attribute WHERE attrelid = 'migrations'::regclass AND attname = 'compatible'"
        ).isEmpty
        // Tables of an earlier build lack the columns `compatible` and `version`. ALTER TABLE waits for every reader of
        // the table, such as a backup, so it runs only if they are missing.
        if !hasColumns {
            try connection.run(
                """
                ALTER TABLE migrations ADD COLUMN compatible boolean NOT NULL DEFAULT false;
                ALTER TABLE functions ADD COLUMN version bigint NOT NULL DEFAULT 0
                """
            )
        }
        try connection.commit()
    }

    /// Applies the next missing script and returns it; nil if nothing is missing.
    private func applyNext(on connection: borrowing Connection, replacesNewerFunctions: Bool) throws -> Applied? {
        try connection.run(beginWithLock)
        let scripts = try scripts(
            after: connection.query(Self.appliedMigrations),
            and: connection.query(Self.appliedFunctions)
        )
        let next = scripts.first {
            $0.state == .pending || replacesNewerFunctions && $0.isFunction && $0.state == .newer
        }
        guard let next, let file = next.file else {
            try connection.commit()
            return nil
        }
        let start = ContinuousClock.now
        do throws(DatabaseError) {
            try apply(file, isFunction: next.isFunction, on: connection)
            return Applied(name: next.name, time: ContinuousClock.now - start, isCompatible: next.isCompatible)
        } catch {
            // After a lost connection, the outcome is unknown. The next run of `migrate` finds out whether the script
            // was applied.
            switch error {
            case .unavailable, .outcomeUnknown, .cancelled: throw error
            case .refused, .unexpectedAnswer:
                throw MigrationError(next.name, error, in: String(decoding: file.bytes, as: UTF8.self))
            }
        }
    }

    private func apply(
        _ file: Schema.Script,
        isFunction: Bool,
        on connection: borrowing Connection
    ) throws(DatabaseError) {
        if isFunction { try rememberFunctions(named: file.name, on: connection) }
        try connection.run(String(decoding: file.bytes, as: UTF8.self))
        guard connection.isInTransaction else {
            throw .unexpectedAnswer("the script must not end its transaction")
        }
        if isFunction { try closeNewFunctions(named: file.name, on: connection) }
        let record: SQL =
            if isFunction {
                """
                INSERT INTO functions (name, checksum, version)
                VALUES (\(file.name), \(file.checksum), \(functionsVersion))
                ON CONFLICT (name) DO UPDATE
                   SET checksum = excluded.checksum, version = excluded.version, applied_at = excluded.applied_at
                """
            } else {
                """
                INSERT INTO migrations (name, checksum, compatible)
                VALUES (\(file.name), \(file.checksum), \(file.isCompatible))
                """
            }
        _ = try connection.query(record)
        try connection.commit()
    }

    /// The id of the schema of the tables. A cast of its name to `regnamespace` would fold upper case.
    private static let schema: SQL = "(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"

    /// Stores, until the transaction ends, the ids of the functions with this name that run with the privileges of
    /// their owner.
    private func rememberFunctions(named name: String, on connection: borrowing Connection) throws(DatabaseError) {
        _ = try connection.query(
            """
            SELECT set_config('migrations.functions', coalesce(string_agg(oid::text, ','), ''), true) FROM pg_proc
             WHERE proname = \(name) AND pronamespace = \(Self.schema) AND prosecdef
            """
        )
    }

    /// Revokes the privilege EXECUTE from `PUBLIC` for each function with this name that runs with the privileges of
    /// its owner now, but did not before the script (``rememberFunctions(named:on:)``). PostgreSQL grants EXECUTE to
    /// `PUBLIC` when it creates a function, and ``grantToRoles(on:)`` runs only after all scripts.
    private func closeNewFunctions(named name: String, on connection: borrowing Connection) throws(DatabaseError) {
        let open = try connection.query(
            """
            SELECT oid::regprocedure::text FROM pg_proc
             WHERE proname = \(name) AND pronamespace = \(Self.schema) AND prosecdef
               AND oid::text <> ALL (string_to_array(current_setting('migrations.functions'), ','))
            """
        )
        for function in open {
            try connection.run("REVOKE ALL ON FUNCTION \(function.decode(String.self)) FROM PUBLIC")
        }
    }

    /// Grants the privileges of the roles again, because roles may have been created since the last run. Calls the
    /// function in the database, which may be newer than this program and then knows more tables.
    private func grantToRoles(on connection: borrowing Connection) throws {
        try connection.run(beginWithLock)
        do throws(DatabaseError) {
            _ = try connection.query("SELECT grant_to_roles()")
            try connection.commit()
        } catch {
            guard error.sqlState != nil else { throw error }
            throw MigrationError("the privileges of the roles", error, in: "")
        }
    }

    /// Runs the body, which begins and ends a transaction. If the body did not get a lock in time, or was in a
    /// deadlock, runs the body again, but at most ``LockWait/attempts`` times in all.
    private func patiently<Value>(
        on connection: borrowing Connection,
        _ body: (borrowing Connection) throws -> Value
    ) throws -> Value {
        for _ in 1..<max(1, lockWait.attempts) {
            do {
                return try body(connection)
            } catch {
                let cause =
                    if case MigrationError.failed(_, let cause, _) = error { cause } else { error as? DatabaseError }
                guard let cause, ["55P03", "40P01"].contains(cause.sqlState) else { throw error }
                try connection.run("ROLLBACK")
                Thread.sleep(forTimeInterval: lockWait.pause / .seconds(1))
            }
        }
        return try body(connection)
    }

    /// Returns the scripts by state. Throws ``MigrationError/edited(_:)``, ``MigrationError/unknown(_:)`` or
    /// ``DatabaseError``.
    package func status(of database: Database) async throws -> Status {
        let scripts = try await scripts(
            after: rows(Self.appliedMigrations, of: database),
            and: rows(Self.appliedFunctions, of: database)
        )
        func names(_ state: KnownScript.State) -> [String] { scripts.filter { $0.state == state }.map(\.name) }
        var times: [String: Date] = [:]
        for script in scripts where script.state != .pending { times[script.name] = script.appliedAt }
        return Status(
            applied: names(.applied),
            pending: names(.pending),
            newer: names(.newer),
            compatible: scripts.filter(\.isCompatible).map(\.name),
            times: times
        )
    }

    /// Returns the rows of the statement; none if its table does not exist (`undefined_table`), because no script was
    /// ever applied.
    private func rows(_ statement: SQL, of database: Database) async throws(DatabaseError) -> [Row] {
        do throws(DatabaseError) {
            return try await Array(database.read(statement))
        } catch {
            guard error.sqlState == "42P01" else { throw error }
            return []
        }
    }

    /// Throws unless the database has the migrations and the functions of this program. Newer migrations must be
    /// compatible, and newer functions are permitted. Returns the names of the newer scripts.
    @discardableResult
    package func check(_ database: Database) async throws -> [String] {
        let status = try await status(of: database)
        guard status.pending.isEmpty else { throw MigrationError.missing(status.pending) }
        return status.newer
    }

    /// A script of this program or of a newer one.
    private struct KnownScript {
        /// The file of the script; nil for a migration that only a newer version knows.
        let file: Schema.Script?
        let name: String
        let isFunction: Bool
        let isCompatible: Bool
        let state: State
        /// The time at which the database got the script or, for a function, another text of it; nil if it never did.
        let appliedAt: Date?

        enum State {
            case applied, pending, newer
        }
    }

    /// Returns the scripts of this program, and the unknown migrations of the database, in the order in which they are
    /// applied. Throws for an edited migration, and for an unknown migration that is not compatible.
    ///
    /// Ignores unknown functions: a newer version may have added them, and this program does not call them.
    private func scripts(after migrationRows: some Sequence<Row>, and functionRows: some Sequence<Row>) throws
        -> [KnownScript]
    {
        var appliedMigrations: [String: (isCompatible: Bool, time: Date)] = [:]
        var newer: [KnownScript] = []
        for row in migrationRows {
            let (name, checksum, isCompatible, time) = try row.decode(String.self, [UInt8].self, Bool.self, Date.self)
            appliedMigrations[name] = (isCompatible, time)
            if let file = migrations.first(where: { $0.name == name }) {
                guard file.checksum == checksum else { throw MigrationError.edited(name) }
            } else {
                guard isCompatible else { throw MigrationError.unknown(name) }
                newer.append(
                    .init(file: nil, name: name, isFunction: false, isCompatible: true, state: .newer, appliedAt: time)
                )
            }
        }
        var appliedFunctions: [String: (checksum: [UInt8], version: Int, time: Date)] = [:]
        for row in functionRows {
            let (name, checksum, version, time) = try row.decode(String.self, [UInt8].self, Int.self, Date.self)
            appliedFunctions[name] = (checksum, version, time)
        }
        let known = migrations.map { file in
            let applied = appliedMigrations[file.name]
            return KnownScript(
                file: file,
                name: file.name,
                isFunction: false,
                isCompatible: applied?.isCompatible ?? file.isCompatible,
                state: applied == nil ? .pending : .applied,
                appliedAt: applied?.time
            )
        }
        let functions = functions.map { file in
            let applied = appliedFunctions[file.name]
            let state: KnownScript.State =
                if applied?.checksum == file.checksum { .applied } else {
                    applied.map { $0.version > functionsVersion } == true ? .newer : .pending
                }
            let name = "functions/\(file.name)"
            return KnownScript(
                file: file,
                name: name,
                isFunction: true,
                isCompatible: false,
                state: state,
                appliedAt: applied?.time
            )
        }
        return known + newer + functions
    }

    /// Reads the migrations that were applied. Also works without the column `compatible`, which tables of an earlier
    /// build lack.
    private static let appliedMigrations: SQL = """
        SELECT name, checksum, coalesce((to_jsonb(migrations)->>'compatible')::boolean, false), applied_at
          FROM migrations ORDER BY name
        """
    /// Reads the functions that were applied. Leaves out a row if the function does not exist, because a migration may
    /// have dropped it. Also works without the column `version`.
    private static let appliedFunctions: SQL = """
        SELECT name, checksum, coalesce((to_jsonb(functions)->>'version')::bigint, 0), applied_at FROM functions
         WHERE EXISTS (SELECT FROM pg_proc WHERE proname = functions.name AND pg_function_is_visible(pg_proc.oid))
        """
    /// The number of the advisory lock. It is arbitrary; no other program should use it in this database.
    private static let lock = 0x6163_636F_756E_7473

    /// Begins a transaction and waits for the advisory lock without a timeout, even if a pooler sets timeouts for every
    /// session. After that, the wait for each lock is limited to ``LockWait/timeout``.
    ///
    /// Sets the search path to the schema of the tables, with temporary tables last. Functions that run with the
    /// privileges of their owner keep this path, by `SET search_path FROM CURRENT`.
    private var beginWithLock: String {
        """
        BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(\(Self.lock));
        SET LOCAL lock_timeout = \(Int(lockWait.timeout / .milliseconds(1)));
        SELECT set_config('search_path', coalesce(quote_ident(current_schema()), 'public') || ', pg_temp', true)
        """
    }
}

extension Schema.Script {
    fileprivate var checksum: [UInt8] { Array(SHA256.hash(data: bytes)) }
}
