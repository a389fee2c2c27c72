import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("SQL statements")
struct SQLTests {
    @Test func `interpolated values are bound and not inserted into the text`() {
        let name = "'; DROP TABLE drafts; --"
        let statement: SQL = "SELECT * FROM people WHERE name = \(name) AND age > \(7)"
        #expect(statement.text == "SELECT * FROM people WHERE name = $1 AND age > $2")
        #expect(statement.parameters.map(\.type) == [.text, .int8])
        #expect(statement.parameters.map(\.bytes) == [Array(name.utf8), [0, 0, 0, 0, 0, 0, 0, 7]])
    }

    @Test func `the values of a nested part are numbered in order`() {
        let deepest: SQL = "c = \(3)"
        let part: SQL = "b = \(2) AND \(deepest)"
        let statement: SQL = "a = \(1) AND (\(part)) AND d = \(4)"
        #expect(statement.text == "a = $1 AND (b = $2 AND c = $3) AND d = $4")
        #expect(statement.parameters.compactMap { $0.bytes?.last } == [1, 2, 3, 4])
    }

    @Test func `a part without values adds only its text`() {
        let order: SQL = "ORDER BY id"
        let statement: SQL = "SELECT \(1) \(order) LIMIT \(2)"
        #expect(statement.text == "SELECT $1 ORDER BY id LIMIT $2")
    }

    @Test func `nil is bound as a NULL of its type`() {
        let statement: SQL = "SELECT \(UUID?.none), \(Int?.some(1))"
        #expect(statement.parameters.map(\.type) == [.uuid, .int8])
        #expect(statement.parameters.map { $0.bytes == nil } == [true, false])
    }
}

@Suite("SQL values", .emptyDatabase, .timeLimit(.minutes(30)))
struct SQLValuesTests {
    @Test(arguments: [true, false])
    func `a boolean round-trips`(value: Bool) throws {
        #expect(try echo(value) == value)
    }

    @Test(arguments: [0, 1, -1, 255, 256, -256, Int(Int32.max) + 1, .min, .max])
    func `an integer round-trips`(value: Int) throws {
        #expect(try echo(value) == value)
    }

    @Test func `shorter integers are read with their sign`() throws {
        let row = try DatabaseSession().query("SELECT -1::int2, 32767::int2, (-2147483648)::int4, -1::int4, 5::int8")[0]
        let (a, b, c, d, e) = try row.decode(Int.self, Int.self, Int.self, Int.self, Int.self)
        let numbers: [Int] = [a, b, c, d, e]
        #expect(numbers == [-1, 32_767, -2_147_483_648, -1, 5])
    }

    @Test(arguments: [
        "", "a", "안녕하세요", "👩‍👩‍👧‍👦", "e\u{301}", "\u{FFFF}\u{10FFFF}", "'\"\\$1%s", "\r\n\t\u{1}",
        String(repeating: "ß", count: 100_000),
    ])
    func `text round-trips byte for byte`(value: String) throws {
        let back = try echo(value)
        #expect(Array(back.utf8) == Array(value.utf8))
    }

    @Test(arguments: [[], [0], Array(0...255), [UInt8](repeating: 0, count: 100_000)])
    func `bytes round-trip`(value: [UInt8]) throws {
        #expect(try echo(value) == value)
    }

    @Test func `a UUID round-trips, and the server prints the same text`() throws {
        let id = UUID()
        let (back, printed) = try DatabaseSession().query("SELECT \(id), \(id)::text").only.decode(
            UUID.self,
            String.self
        )
        #expect(back == id)
        #expect(printed == id.uuidString.lowercased())
    }

    @Test func `NULL of any type is read as nil`() throws {
        let nothing: SQL = "SELECT \(Bool?.none), \(Int?.none), \(String?.none), \([UInt8]?.none), \(UUID?.none)"
        let row = try DatabaseSession().query(nothing).only.decode(
            Bool?.self,
            Int?.self,
            String?.self,
            [UInt8]?.self,
            UUID?.self
        )
        #expect(row.0 == nil && row.1 == nil && row.2 == nil && row.3 == nil && row.4 == nil)
    }

    @Test(arguments: [
        ("1970-01-01 00:00:00Z", 0.0), ("2000-01-01 00:00:00Z", 946_684_800), ("1969-12-31 23:59:59.5Z", -0.5),
        ("2026-02-28 23:59:59.25+09", 1_772_290_799.25),
    ])
    func `an instant is read to the microsecond`(written: String, seconds: Double) throws {
        let instant = try DatabaseSession().query("SELECT \(written)::timestamptz").only.decode(Date.self)
        #expect(instant.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [[], [[]], [[1]], [[1, 2], [], [0, 255, 0]]] as [[[UInt8]]])
    func `a list of byte strings keeps its order`(values: [[UInt8]]) throws {
        let rows = try DatabaseSession().query(
            "SELECT value FROM unnest(\(ByteStrings(values))) WITH ORDINALITY AS list (value, place) ORDER BY place"
        )
        #expect(try rows.map { row in try row.decode([UInt8].self) } == values)
    }

    @Test(arguments: ["victim@x.io\0@evil.test", "\0", "a\0"])
    func `text with a NUL is refused and not truncated`(text: String) async throws {
        let session = try DatabaseSession()
        try session.run("CREATE TABLE people (id uuid, address text)")
        let insert: SQL = "INSERT INTO people VALUES (\(UUID()), \(text))"
        let direct = #expect(throws: DatabaseError.self) { try session.query(insert) }
        #expect(direct?.sqlState == "22021")

        try await withDatabase { database in
            let grouped = await #expect(throws: DatabaseError.self) { try await database.write(insert, to: UUID()) }
            #expect(grouped?.sqlState == "22021")
            let alone = await #expect(throws: DatabaseError.self) { try await database.transaction(insert) }
            #expect(alone?.sqlState == "22021")
        }
        #expect(try session.number(of: "people") == 0)
    }

    @Test func `statements with the same text and different types of values are prepared separately`() async throws {
        try await withDatabase { database in
            let number = try await database.read("SELECT \(7)").only.decode(Int.self)
            let text = try await database.read("SELECT \("12345678")").only.decode(String.self)
            let bytes = try await database.read("SELECT \([1, 2] as [UInt8])").only.decode([UInt8].self)
            #expect(number == 7)
            #expect(text == "12345678")
            #expect(bytes == [1, 2])
        }
    }

    @Test func `rows of another shape cause an error`() throws {
        let row = try DatabaseSession().query("SELECT 1::int8, 'abc', NULL::int8")[0]
        for read in [
            { _ = try row.decode(Int.self, String.self) },
            { _ = try row.decode(Int.self, String.self, Int?.self, Int?.self) },
            { _ = try row.decode(Int.self, Int.self, Int?.self) },
            { _ = try row.decode(Int.self, String.self, Int.self) },
        ] as [() throws -> Void] {
            let error = #expect(throws: DatabaseError.self) { try read() }
            guard case .unexpectedAnswer? = error else {
                Issue.record("unexpected error: \(String(describing: error))")
                continue
            }
        }
    }

    @Test func `the description of an error does not contain values`() throws {
        let error = #expect(throws: DatabaseError.self) { try DatabaseSession().query("SELECT \("typed")::int") }
        #expect(error?.description == "database refused: 22P02")
        #expect(error?.debugDescription.contains("typed") == true)
    }

    private func echo<Value: SQLEncodable & SQLDecodable>(_ value: Value) throws -> Value {
        try DatabaseSession().query("SELECT \(value)").only.decode(Value.self)
    }
}
