import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Statements and the values they bind")
struct SQLTests {
    @Test func `interpolation binds and never pastes`() {
        let name = "'; DROP TABLE drafts; --"
        let statement: SQL = "SELECT * FROM people WHERE name = \(name) AND age > \(7)"
        #expect(statement.text == "SELECT * FROM people WHERE name = $1 AND age > $2")
        #expect(statement.parameters.map(\.type) == [.text, .int8])
        #expect(statement.parameters.map(\.bytes) == [Array(name.utf8), [0, 0, 0, 0, 0, 0, 0, 7]])
    }

    @Test func `values in a part are numbered after those before it`() {
        let deepest: SQL = "c = \(3)"
        let part: SQL = "b = \(2) AND \(deepest)"
        let statement: SQL = "a = \(1) AND (\(part)) AND d = \(4)"
        #expect(statement.text == "a = $1 AND (b = $2 AND c = $3) AND d = $4")
        #expect(statement.parameters.compactMap { $0.bytes?.last } == [1, 2, 3, 4])
    }

    @Test func `a part without values is only text`() {
        let order: SQL = "ORDER BY id"
        let statement: SQL = "SELECT \(1) \(order) LIMIT \(2)"
        #expect(statement.text == "SELECT $1 ORDER BY id LIMIT $2")
    }

    @Test func `nothing is bound as NULL with the type of what is missing`() {
        let statement: SQL = "SELECT \(UUID?.none), \(Int?.some(1))"
        #expect(statement.parameters.map(\.type) == [.uuid, .int8])
        #expect(statement.parameters.map { $0.bytes == nil } == [true, false])
    }
}

@Suite("Values to the server and back", .emptyDatabase, .timeLimit(.minutes(5)))
struct SQLValuesTests {
    @Test(arguments: [true, false])
    func `a boolean comes back`(value: Bool) throws {
        #expect(try echo(value) == value)
    }

    @Test(arguments: [0, 1, -1, 255, 256, -256, Int(Int32.max) + 1, .min, .max])
    func `an integer comes back`(value: Int) throws {
        #expect(try echo(value) == value)
    }

    @Test func `shorter integers are read with their sign`() throws {
        let row = try Session().query("SELECT -1::int2, 32767::int2, (-2147483648)::int4, -1::int4, 5::int8")[0]
        let (a, b, c, d, e) = try row.decode(Int.self, Int.self, Int.self, Int.self, Int.self)
        let numbers: [Int] = [a, b, c, d, e]
        #expect(numbers == [-1, 32_767, -2_147_483_648, -1, 5])
    }

    @Test(arguments: [
        "", "a", "안녕하세요", "👩‍👩‍👧‍👦", "e\u{301}", "\u{FFFF}\u{10FFFF}", "'\"\\$1%s", "\r\n\t\u{1}",
        String(repeating: "ß", count: 100_000),
    ])
    func `text comes back byte for byte`(value: String) throws {
        let back = try echo(value)
        #expect(Array(back.utf8) == Array(value.utf8))
    }

    @Test(arguments: [[], [0], Array(0...255), [UInt8](repeating: 0, count: 100_000)])
    func `bytes come back`(value: [UInt8]) throws {
        #expect(try echo(value) == value)
    }

    @Test func `an identifier comes back, and is what the server prints`() throws {
        let id = UUID()
        let (back, printed) = try Session().query("SELECT \(id), \(id)::text").only.decode(UUID.self, String.self)
        #expect(back == id)
        #expect(printed == id.uuidString.lowercased())
    }

    @Test func `NULL comes back as nothing, whatever its type`() throws {
        let nothing: SQL = "SELECT \(Bool?.none), \(Int?.none), \(String?.none), \([UInt8]?.none), \(UUID?.none)"
        let row = try Session().query(nothing).only.decode(
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
        let instant = try Session().query("SELECT \(written)::timestamptz").only.decode(Date.self)
        #expect(instant.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [[], [[]], [[1]], [[1, 2], [], [0, 255, 0]]] as [[[UInt8]]])
    func `a list of byte strings arrives in order`(values: [[UInt8]]) throws {
        let rows = try Session().query(
            "SELECT value FROM unnest(\(ByteStrings(values))) WITH ORDINALITY AS list (value, place) ORDER BY place"
        )
        #expect(try rows.map { row in try row.decode([UInt8].self) } == values)
    }

    @Test(arguments: ["victim@x.io\0@evil.test", "\0", "a\0"])
    func `text with NUL is refused and never cut`(text: String) async throws {
        let session = try Session()
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
        #expect(try session.count("people") == 0)
    }

    @Test func `one text with values of different types is two statements`() async throws {
        try await withDatabase { database in
            let number = try await database.read("SELECT \(7)").only.decode(Int.self)
            let text = try await database.read("SELECT \("12345678")").only.decode(String.self)
            let bytes = try await database.read("SELECT \([1, 2] as [UInt8])").only.decode([UInt8].self)
            #expect(number == 7)
            #expect(text == "12345678")
            #expect(bytes == [1, 2])
        }
    }

    @Test func `an answer of another shape is an error`() throws {
        let row = try Session().query("SELECT 1::int8, 'abc', NULL::int8")[0]
        for read in [
            { _ = try row.decode(Int.self, String.self) },
            { _ = try row.decode(Int.self, String.self, Int?.self, Int?.self) },
            { _ = try row.decode(Int.self, Int.self, Int?.self) },
            { _ = try row.decode(Int.self, String.self, Int.self) },
        ] as [() throws -> Void] {
            let error = #expect(throws: DatabaseError.self) { try read() }
            guard case .unexpectedAnswer? = error else {
                Issue.record("it is \(String(describing: error))")
                continue
            }
        }
    }

    @Test func `what a person typed stays out of what is logged`() throws {
        let error = #expect(throws: DatabaseError.self) { try Session().query("SELECT \("typed")::int") }
        #expect(error?.description == "database refused: 22P02")
        #expect(error?.debugDescription.contains("typed") == true)
    }

    private func echo<Value: SQLEncodable & SQLDecodable>(_ value: Value) throws -> Value {
        try Session().query("SELECT \(value)").only.decode(Value.self)
    }
}
