import Crypto
import Foundation
import TestSupport
import Testing

@testable import Accounts
@testable import Schema

@Suite("Migrations", .emptyDatabase, .timeLimit(.minutes(30)))
struct MigrationsTests {
    private let conninfo = FreshDatabase.current.conninfo

    @Test func `concurrent programs apply each migration once`() async throws {
        let conninfo = conninfo
        let applied = try await withThrowingTaskGroup { group in
            for _ in 1...6 { group.addTask { try await onThread { try Migrations().apply(to: conninfo) } } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let functions = Schema.functions.map { "functions/\($0.name)" }
        #expect(applied.flatMap { $0.map(\.name) }.sorted() == Schema.migrations.map(\.name) + functions.sorted())
        #expect(try DatabaseSession().number(of: "migrations") == Schema.migrations.count)
        #expect(try DatabaseSession().number(of: "functions") == Schema.functions.count)
    }

    @Test func `the name of the schema may have upper case`() async throws {
        let session = try DatabaseSession()
        try session.run(#"CREATE SCHEMA "MyApp""#)
        let conninfo = conninfo + #" options='-c search_path="MyApp"'"#
        _ = try await onThread { try Migrations().apply(to: conninfo) }
        #expect(try session.number(of: #""MyApp".migrations"#) == Schema.migrations.count)
        #expect(try session.number(of: #""MyApp".functions"#) == Schema.functions.count)
    }

    @Test func `a program waits for the migration lock without a lock timeout`() async throws {
        let session = try DatabaseSession()
        try session.run("BEGIN; SELECT pg_advisory_xact_lock(7017561974736057459)")
        let conninfo = conninfo + " options='-c lock_timeout=1ms'"
        async let applied = onThread { try Migrations([]).apply(to: conninfo) }
        _ = try await DatabaseSession().waitUntilSomebodyIsBlocked()
        try session.run("COMMIT")
        #expect(try await applied.isEmpty)
    }

    @Test func `the status lists the applied and the pending migrations`() async throws {
        let (first, second) = (migration("0001-first", "CREATE TABLE first ()"), migration("0002-second", "SELECT 1"))
        try await withDatabase { database in
            let both = Migrations([first, second])
            let before = try await both.status(of: database)
            #expect(before.applied.isEmpty)
            #expect(before.pending == ["0001-first", "0002-second"])
            let missing = await #expect(throws: MigrationError.self) { try await both.check(database) }
            #expect(missing?.description.contains("0001-first, 0002-second") == true)

            #expect(try Migrations([first]).apply(to: conninfo).map(\.name) == ["0001-first"])
            let between = try await both.status(of: database)
            #expect(between.applied == ["0001-first"])
            #expect(between.pending == ["0002-second"])

            #expect(try both.apply(to: conninfo).map(\.name) == ["0002-second"])
            #expect(try both.apply(to: conninfo).isEmpty)
            try await both.check(database)
        }
    }

    @Test func `a migration that was edited after it was applied is refused`() async throws {
        _ = try Migrations([migration("0001-first", "CREATE TABLE first ()")]).apply(to: conninfo)
        let edited = Migrations([
            migration("0001-first", "CREATE TABLE first (id int)"), migration("0002-second", "SELECT 1"),
        ])
        let error = #expect(throws: MigrationError.self) { try edited.apply(to: conninfo) }
        guard case .edited("0001-first")? = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(try DatabaseSession().number(of: "migrations") == 1)
        try await withDatabase { database in
            await #expect(throws: MigrationError.self) { try await edited.check(database) }
        }
    }

    @Test func `a migration of a newer version is refused`() async throws {
        let first = migration("0001-first", "CREATE TABLE first ()")
        _ = try Migrations([first, migration("0002-newer", "SELECT 1")]).apply(to: conninfo)
        let error = #expect(throws: MigrationError.self) { try Migrations([first]).apply(to: conninfo) }
        guard case .unknown("0002-newer")? = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        try await withDatabase { database in
            await #expect(throws: MigrationError.self) { try await Migrations([first]).check(database) }
        }
    }

    @Test(arguments: [
        "CREATE TABLE half (); INSERT INTO first VALUES (1); SELECT 1 / 0",
        "CREATE TABLE half (); CREATE TABLE half ()",
        "CREATE TABLE half (id int REFERENCES first DEFERRABLE INITIALLY DEFERRED); INSERT INTO half VALUES (7)",
    ])
    func `a failed migration is rolled back completely`(script: String) throws {
        let first = migration("0001-first", "CREATE TABLE first (id int PRIMARY KEY)")
        let failing = Migrations([first, migration("0002-half", script)])
        let error = #expect(throws: MigrationError.self) { try failing.apply(to: conninfo) }
        guard case .failed("0002-half", _, _)? = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        let session = try DatabaseSession()
        #expect(try session.number(of: "migrations") == 1)
        #expect(try session.number(of: "first") == 0)
        let isGone = try session.query("SELECT to_regclass('half') IS NULL").only.decode(Bool.self)
        #expect(isGone)
        let mended = Migrations([first, migration("0002-half", "CREATE TABLE half ()")])
        #expect(try mended.apply(to: conninfo).map(\.name) == ["0002-half"])
    }

    @Test(
        arguments: [
            (
                "CREATE TABLE half ();\nCREATE TABLE half ()",
                #"42P07: relation "half" already exists; a table or index of this name was made by hand: "#
            ),
            ("SELECT 1;\nSELECT name\n  FROM halves", #"42P01: relation "halves" does not exist: line 3"#),
            (
                "CREATE VIEW seen AS TABLE names; DROP TABLE names",
                "2BP01: cannot drop table names because other objects depend on it: view seen depends on table names"
            ),
            // The rows have what people typed.
            ("ALTER TABLE names ALTER name TYPE int USING name::int", "22P02"),
            ("ALTER TABLE names ADD UNIQUE (name)", #"23505: could not create unique index "names_name_key""#),
            ("ALTER TABLE names ADD CHECK (name = '')", "23514: "),
        ]
    )
    func `a failed migration says why, but quotes no row`(script: String, reason: String) throws {
        let first = migration("0001-first", "CREATE TABLE names (name text); INSERT INTO names VALUES ('kim'), ('kim')")
        let error = #expect(throws: MigrationError.self) {
            try Migrations([first, migration("0002-half", script)]).apply(to: conninfo)
        }
        let text = try #require(error).description
        #expect(text.hasPrefix("cannot apply 0002-half: \(reason)") && !text.contains("kim"))
    }

    @Test func `an error outside of the scripts names no line`() throws {
        try DatabaseSession(to: conninfo).run("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        // So this role of PostgreSQL may not create tables.
        let error = #expect(throws: MigrationError.self) {
            try Migrations().apply(to: conninfo + " options='-c role=pg_read_all_data'")
        }
        let reason = "42501: permission denied for schema public"
        let remedy = "run migrate as the owner of the tables and functions; ALTER … OWNER TO changes a wrong owner"
        #expect(error?.description == "cannot apply the tables of the migrations: \(reason); \(remedy)")
    }

    @Test(arguments: ["CREATE TABLE half (); ROLLBACK", "CREATE TABLE half (); COMMIT"])
    func `a migration that ends its own transaction fails`(script: String) throws {
        let error = #expect(throws: MigrationError.self) {
            try Migrations([migration("0001-half", script)]).apply(to: conninfo)
        }
        guard case .failed("0001-half", .unexpectedAnswer, _)? = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(try DatabaseSession().number(of: "migrations") == 0)
    }

    @Test func `a version accepts newer migrations that are compatible, and refuses an incompatible one`()
        async throws
    {
        let first = migration("0001-first", "CREATE TABLE first ()")
        let compatible = Schema.Script("0002-compatible", Array("SELECT 1".utf8), isCompatible: true)
        let older = Migrations([first])
        _ = try Migrations([first, compatible]).apply(to: conninfo)
        try await withDatabase { database in
            #expect(try await older.check(database) == ["0002-compatible"])
            let status = try await older.status(of: database)
            #expect(status.applied == ["0001-first"] && status.pending == [])
            #expect(status.newer == ["0002-compatible"] && status.compatible == ["0002-compatible"])
            #expect(try older.apply(to: conninfo).isEmpty)

            _ = try Migrations([first, compatible, migration("0003-breaking", "SELECT 1")]).apply(to: conninfo)
            let refused = await #expect(throws: MigrationError.self) { try await older.check(database) }
            #expect(refused?.description.contains("0003-breaking, on which this version cannot serve") == true)
            #expect(throws: MigrationError.self) { try older.apply(to: conninfo) }
        }
    }

    @Test func `the tables with the applied scripts of an earlier build get their missing columns`() async throws {
        let columns = "name text PRIMARY KEY, checksum bytea NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()"
        try DatabaseSession().run("CREATE TABLE migrations (\(columns)); CREATE TABLE functions (\(columns))")
        let program = Migrations([migration("0001-first", "CREATE TABLE first ()")])
        try await withDatabase { database in
            #expect(try await program.status(of: database).pending == ["0001-first"])
            #expect(try program.apply(to: conninfo).map(\.name) == ["0001-first"])
            try await program.check(database)
        }
    }

    /// A program whose second migration changes the table that the first one creates. The first one is already applied.
    private func alteringProgram(_ lockWait: Migrations.LockWait) throws -> Migrations {
        let first = migration("0001-first", "CREATE TABLE first ()")
        _ = try Migrations([first]).apply(to: conninfo)
        let second = migration("0002-second", "ALTER TABLE first ADD COLUMN number int")
        return Migrations([first, second], lockWait: lockWait)
    }

    @Test func `a migration that waits for a lock lets other statements pass, and is tried again`() async throws {
        let program = try alteringProgram(.init(timeout: .milliseconds(200), pause: .zero, attempts: 1000))
        let (reader, other) = (try DatabaseSession(), try DatabaseSession())
        try reader.run("BEGIN; SELECT FROM first")
        let conninfo = conninfo
        async let applied = onThread { try program.apply(to: conninfo) }
        try await other.waitUntilSomebodyIsBlocked()
        // This statement waits until the migration ahead of it gives up its lock.
        try other.run("SELECT FROM first")
        try reader.run("COMMIT")
        #expect(try await applied.map(\.name) == ["0002-second"])
    }

    @Test func `a migration that never gets its lock fails and changes nothing`() throws {
        let program = try alteringProgram(.init(timeout: .milliseconds(1), pause: .zero, attempts: 3))
        let reader = try DatabaseSession()
        try reader.run("BEGIN; SELECT FROM first")
        let error = #expect(throws: MigrationError.self) { try program.apply(to: conninfo) }
        guard case .failed("0002-second", let cause, _)? = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(cause.sqlState == "55P03")
        try reader.run("COMMIT")
        #expect(try program.apply(to: conninfo).map(\.name) == ["0002-second"])
    }

    @Test func `an applied migration has the time that it took`() throws {
        let slow = migration("0001-slow", "SELECT pg_sleep(0.2)")
        let applied = try Migrations([slow, migration("0002-fast", "SELECT 1")]).apply(to: conninfo)
        #expect(applied.map(\.name) == ["0001-slow", "0002-fast"])
        #expect(applied[0].time > .milliseconds(150) && applied[1].time > .zero)
    }

    @Test func `migrating without a server fails`() {
        #expect(throws: DatabaseError.self) { try Migrations().apply(to: "host=/nowhere") }
    }

    private func migration(_ name: String, _ script: String) -> Schema.Script {
        Schema.Script(name, Array(script.utf8))
    }
}

@Suite("SQL functions", .emptyDatabase, .timeLimit(.minutes(30)))
struct SQLFunctionTests {
    private let conninfo = FreshDatabase.current.conninfo
    private let table = Schema.Script("0001-table", Array("CREATE TABLE numbers (number int)".utf8))

    @Test func `functions are applied once, after the migrations`() throws {
        // An SQL function can be created only after the tables that it uses.
        let count = function("count_numbers", "SELECT count(*)::int FROM numbers")
        #expect(try program([count]).apply(to: conninfo).map(\.name) == ["0001-table", "functions/count_numbers"])
        #expect(try program([count]).apply(to: conninfo).isEmpty)
        #expect(try call("count_numbers") == 0)
    }

    @Test func `a function that differs is replaced, also by another build of the same version`() async throws {
        let (older, newer) = (program([function("answer", "SELECT 41")]), program([function("answer", "SELECT 42")]))
        _ = try older.apply(to: conninfo)
        try await withDatabase { database in
            try await older.check(database)
            #expect(try await newer.status(of: database).applied == ["0001-table"])
            #expect(try await newer.status(of: database).pending == ["functions/answer"])
            let missing = await #expect(throws: MigrationError.self) { try await newer.check(database) }
            #expect(missing?.description.contains("functions/answer") == true)

            #expect(try newer.apply(to: conninfo).map(\.name) == ["functions/answer"])
            #expect(try call("answer") == 42)
            try await newer.check(database)
            await #expect(throws: MigrationError.self) { try await older.check(database) }
            #expect(try older.apply(to: conninfo).map(\.name) == ["functions/answer"])
            #expect(try call("answer") == 41)
        }
    }

    @Test func `an older version keeps newer functions, unless it is told to replace them`() async throws {
        let older = program([function("answer", "SELECT 41")], version: 1)
        let newer = program([function("answer", "SELECT 42")], version: 2)
        _ = try older.apply(to: conninfo)
        #expect(try newer.apply(to: conninfo).map(\.name) == ["functions/answer"])
        try await withDatabase { database in
            let newerFunctions = try await older.check(database)
            #expect(newerFunctions == ["functions/answer"])
            #expect(try await older.status(of: database).newer == ["functions/answer"])
            #expect(try older.apply(to: conninfo).isEmpty)
            #expect(try call("answer") == 42)

            #expect(try older.apply(to: conninfo, replacesNewerFunctions: true).map(\.name) == ["functions/answer"])
            #expect(try call("answer") == 41)
            await #expect(throws: MigrationError.self) { try await newer.check(database) }
            #expect(try newer.apply(to: conninfo).map(\.name) == ["functions/answer"])
            #expect(try call("answer") == 42)
        }
    }

    @Test func `a missing function is created again`() async throws {
        let program = program([function("answer", "SELECT 42")])
        _ = try program.apply(to: conninfo)
        try DatabaseSession().run("DROP FUNCTION answer")
        let status = try await withDatabase { database in try await program.status(of: database) }
        #expect(status.pending == ["functions/answer"])
        #expect(try program.apply(to: conninfo).map(\.name) == ["functions/answer"])
        #expect(try call("answer") == 42)
    }

    @Test func `an unknown function of a newer version is kept`() async throws {
        let answer = function("answer", "SELECT 42")
        _ = try program([answer, function("newer", "SELECT 1")]).apply(to: conninfo)
        try await withDatabase { try await program([answer]).check($0) }
        #expect(try program([answer]).apply(to: conninfo).isEmpty)
        #expect(try call("newer") == 1)
    }

    @Test func `a function that fails to apply keeps its former definition`() throws {
        _ = try program([function("answer", "SELECT 42")]).apply(to: conninfo)
        let error = #expect(throws: MigrationError.self) {
            try program([function("answer", "SELECT nothing")]).apply(to: conninfo)
        }
        guard case .failed("functions/answer", _, _)? = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(try call("answer") == 42)
        #expect(try program([function("answer", "SELECT 42")]).apply(to: conninfo).isEmpty)
    }

    /// Otherwise every role could call it until the privileges are granted, which happens after all scripts.
    @Test func `a function with the rights of its owner is closed to everybody when it is created`() throws {
        let guarded =
            "CREATE OR REPLACE FUNCTION guarded(%) RETURNS int LANGUAGE sql SECURITY DEFINER AS $$ SELECT 1 $$;"
        let open = "CREATE OR REPLACE FUNCTION guarded(%) RETURNS int LANGUAGE sql AS $$ SELECT 2 $$;"
        func script(_ functions: (text: String, parameters: String)...) -> Schema.Script {
            let texts = functions.map { $0.text.replacing("%", with: $0.parameters) }
            return Schema.Script("guarded", Array(texts.joined().utf8))
        }
        func mayBeCalled(_ parameters: String) throws -> Bool {
            let privilege: SQL =
                "SELECT has_function_privilege('public', \("guarded(\(parameters))")::regprocedure, 'EXECUTE')"
            return try DatabaseSession().query(privilege).only.decode(Bool.self)
        }

        // Then the privileges of a new function are not those that PostgreSQL gives by itself.
        try DatabaseSession().run("ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO pg_monitor")
        _ = try program([script((guarded, ""))]).apply(to: conninfo)
        #expect(try !mayBeCalled(""))
        _ = try program([script((guarded, ""), (guarded, "int"), (open, "text"))]).apply(to: conninfo)
        #expect(try !mayBeCalled(""))
        #expect(try !mayBeCalled("int"))
        #expect(try mayBeCalled("text"))

        try DatabaseSession().run("GRANT EXECUTE ON FUNCTION guarded(int) TO PUBLIC")
        _ = try program([script((guarded, ""), (guarded, "int"), (guarded, "text"))]).apply(to: conninfo)
        #expect(try mayBeCalled("int"), "a replacement must keep what was granted")
        #expect(try !mayBeCalled("text"), "the function runs with the rights of its owner since then")
    }

    @Test func `no function is applied to the schema of a newer version`() throws {
        let newer = Schema.Script("0002-newer", Array("SELECT 1".utf8))
        _ = try Migrations([table, newer], functions: [function("answer", "SELECT 42")]).apply(to: conninfo)
        #expect(throws: MigrationError.self) { try program([function("answer", "SELECT 41")]).apply(to: conninfo) }
        #expect(try call("answer") == 42)
    }

    private func program(_ functions: [Schema.Script], version: Int = 0) -> Migrations {
        Migrations([table], functions: functions, version: version)
    }

    private func function(_ name: String, _ body: String) -> Schema.Script {
        let script = "CREATE OR REPLACE FUNCTION \(name)() RETURNS int LANGUAGE sql AS $$ \(body) $$"
        return Schema.Script(name, Array(script.utf8))
    }

    private func call(_ name: String) throws -> Int {
        try DatabaseSession().query("SELECT \(SQL(stringLiteral: name))()").only.decode(Int.self)
    }
}

@Suite("The files of the schema")
struct SchemaFilesTests {
    private static let root = Repository.root.appending(path: "sql")

    @Test(arguments: ["migrations", "functions"])
    func `each file of a folder is in its list under its name`(folder: String) throws {
        let list = folder == "functions" ? Schema.functions : Schema.migrations
        let folder = Self.root.appending(path: folder)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(list.map { "\($0.name).sql" }.sorted() == files.sorted())
        for script in list {
            let file = try Data(contentsOf: folder.appending(path: "\(script.name).sql"))
            #expect(script.bytes == Array(file), "\(script.name)")
        }
    }

    @Test func `migrations are applied in the order of their numbers`() {
        let numbers = Schema.migrations.map { String($0.name.prefix(5)) }
        #expect(numbers.allSatisfy { $0.wholeMatch(of: /[0-9]{4}-/) != nil })
        #expect(numbers == Set(numbers).sorted())
    }

    /// The SHA-256 of all functions, for each version of them. A change of a function adds a line; lines never change.
    private static let versions = [
        "efac3002f82f5fd53108cc60bbd1c1bfabb7b89155998b0090f53e698b0e810a",
        "64426df9ebf244c1987876ba4e001ea9ebe781a378ee4e18bfb5c3f803b4c356",
        "629297b247e2d91d0622240c4ff87554211fd1492557e6734c5c7a139c509577",
        "86841727d1bb0a3f9b820d4f7ddec348d5635016da3b2c2346ee581728aa0fab",
        "fc76fb7f73c6ccb915c91ead6eb42cd07559491f061ce015bd5016a92b994f7a",
        "a01138ad59a9115e80770a9f7e3df934d136d8c0d48ddb394bb7e05722b1241d",
        "dfc5334334dda251e3f134949bf4282837537ba054cee0bcb3de587457a3eb75",
        "13b97b2db0124ea8348fa2c04f75545a075b075e9ba3dd44fffacef44e7329a9",
        "71287c75848cafd8fb690722d10e2e2a049687e224a5662ebb16b79787274509",
        "4064154ee1d59bd5294da209d3c28a8c3f0ca05c1bb0966c672dec8e8ea64a99",
        "180f254fdc15adc5620a859510b3b84fbfb89d79b756b862731b74d0b091f335",
        "e49e98a69d5bf538153c4ff0dbf43a0998d328700d1777876b57a887d1378c24",
        "f941815569f68ee711fcd906d94068a0858e48c5ce82464cf87370442241106b",
        "23c09777f5f2d9433724498bac10cf7df095d4ef25763dde0a3b41e6df8abe9f",
        "eafbd5be9f364686d8206d259780890465a9eabb35edd977cc4f9a63e915226d",
    ]

    @Test func `the version of the functions grows with each change`() {
        let digest = SHA256.hash(data: Schema.functions.flatMap(\.bytes)).map {
            let digits = String($0, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined()
        #expect(Schema.functionsVersion == Self.versions.count)
        #expect(
            Self.versions.last == digest,
            "a function has changed: add its digest to the list, and 1 to Schema.functionsVersion"
        )
    }

    @Test func `a function file replaces only the function with its name`() {
        for script in Schema.functions {
            let text = String(decoding: script.bytes, as: UTF8.self)
            let names = text.matches(of: /(?m)^CREATE OR REPLACE FUNCTION ([a-z_]+)\(/).map { String($0.1) }
            let statements = text.matches(of: /(?m)^(CREATE|ALTER|DROP|SELECT)\b/)
            #expect(names == Array(repeating: script.name, count: max(1, statements.count)))
        }
    }
}

@Suite("The SQL functions for draft partitions", .freshDatabase, .timeLimit(.minutes(30)))
struct DraftPartitionsTests {
    @Test func `a new database has partitions for yesterday and the coming week`() throws {
        let missing = try DatabaseSession().query(
            """
            SELECT FROM generate_series(-1, 6) AS day
             WHERE to_regclass('drafts_' || to_char((now() AT TIME ZONE 'UTC')::date + day, 'YYYYMMDD')) IS NULL
            """
        )
        #expect(missing.isEmpty)
    }

    @Test func `a draft that starts now is in the partition of today`() throws {
        let session = try DatabaseSession()
        let now = try session.query("SELECT now()").only.decode(Date.self)
        #expect(try partition(of: identifier(at: now, filled: .random(in: 0...255)), session) == "drafts_\(day(now))")
    }

    @Test func `the first and the last draft of a day are in the partition of that day`() throws {
        let session = try DatabaseSession()
        let midnight = try session.query("SELECT date_trunc('day', now()) + interval '1 day'").only.decode(Date.self)
        let lastMoment = midnight.addingTimeInterval(-0.001)
        #expect(try partition(of: identifier(at: midnight, filled: 0), session) == "drafts_\(day(midnight))")
        #expect(try partition(of: identifier(at: lastMoment, filled: 255), session) == "drafts_\(day(lastMoment))")
    }

    @Test func `a draft whose id has a wrong time is in the default partition`() throws {
        let session = try DatabaseSession()
        #expect(try partition(of: identifier(at: Date(timeIntervalSince1970: 0), filled: 1), session) == "drafts_other")
        #expect(try partition(of: UUID(), session) == "drafts_other")
    }

    @Test(arguments: [
        ("1970-01-01", "00000000-0000-0000-0000-000000000000"), ("1970-01-02", "00000526-5c00-0000-0000-000000000000"),
        ("2026-01-01", "019b76da-a800-0000-0000-000000000000"), ("2106-02-07", "03e7fe9c-8800-0000-0000-000000000000"),
    ])
    func `the lowest draft id of a day begins with the first millisecond of the day`(day: String, floor: String) throws
    {
        let found = try DatabaseSession().query("SELECT draft_id_floor(\(day)::date)").only.decode(UUID.self)
        #expect(found.uuidString.lowercased() == floor)
    }

    @Test func `a partition is created once, even if it is requested several times`() throws {
        let session = try DatabaseSession()
        try session.run("SELECT create_draft_partition('2031-05-06'), create_draft_partition('2031-05-06')")
        try session.run("SELECT create_draft_partition('2031-05-06')")
        let day = Date(timeIntervalSince1970: 1_935_792_000 + 3600)
        #expect(try partition(of: identifier(at: day, filled: 9), session) == "drafts_20310506")
    }

    private func partition(of id: UUID, _ session: DatabaseSession) throws -> String {
        let inserted = try session.query(
            """
            INSERT INTO drafts (id, token_hash, ends_at, locale, flow, step, sealed)
            VALUES (\(id), \([1] as [UInt8]), now(), 'en', 'flow', 'step', \([2] as [UInt8]))
            RETURNING tableoid::regclass::text
            """
        )
        return try inserted.only.decode(String.self)
    }

    /// A UUID of version 7 (RFC 9562, section 5.7) whose random bytes equal `filler`.
    private func identifier(at instant: Date, filled filler: UInt8) -> UUID {
        let milliseconds = UInt64((instant.timeIntervalSince1970 * 1000).rounded())
        var bytes = withUnsafeBytes(of: milliseconds.bigEndian) { Array($0.suffix(6)) }
        bytes += [UInt8](repeating: filler, count: 10)
        bytes[6] = 0x70 | bytes[6] & 0x0F
        bytes[8] = 0x80 | bytes[8] & 0x3F
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private func day(_ instant: Date) -> String {
        instant.formatted(.iso8601.year().month().day().dateSeparator(.omitted))
    }
}
