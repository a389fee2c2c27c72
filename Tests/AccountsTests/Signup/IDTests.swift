import Foundation
import Testing

@testable import Accounts

@Suite("A time-ordered id")
struct IDTests {
    @Test func `an id is a UUID of version 7 and the variant of RFC 9562`() {
        for _ in 0..<1000 {
            let bytes = ID<Draft>().bytes
            #expect(bytes.count == 16 && bytes[6] >> 4 == 7 && bytes[8] >> 6 == 0b10)
        }
    }

    @Test(arguments: [
        (0, "00000000-0000-7"), (0.001, "00000000-0001-7"), (1_645_557_742, "017f22e2-79b0-7"),
        (281_474_976_710.655, "ffffffff-ffff-7"),
    ])
    func `an id begins with the milliseconds since 1970`(seconds: Double, start: String) {
        #expect(ID<Draft>(at: Date(timeIntervalSince1970: seconds)).description.hasPrefix(start))
    }

    @Test func `a new id begins with the current time`() {
        let before = UInt64(Date().timeIntervalSince1970 * 1000)
        let milliseconds = ID<Draft>().bytes.prefix(6).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let after = UInt64(Date().timeIntervalSince1970 * 1000)
        #expect((before...after).contains(milliseconds))
    }

    @Test func `ids of later milliseconds sort later, as bytes and as text`() {
        var chance = SeededChance(seed: 3)
        var now = 1_767_268_800.0
        let ids = (0..<500).map { _ in
            now += Double(Int.random(in: 2...100_000, using: &chance)) / 1000
            return ID<Draft>(at: Date(timeIntervalSince1970: now))
        }
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0.bytes.lexicographicallyPrecedes($1.bytes) })
        #expect(ids.map(\.description).sorted() == ids.map(\.description))
    }

    @Test func `ids of the same millisecond differ in all of their 74 random bits`() {
        let now = Date(timeIntervalSince1970: 1_767_268_800)
        let ids = (0..<1000).map { _ in ID<Draft>(at: now) }
        #expect(Set(ids).count == 1000)
        let some = ids.reduce(Array(repeating: UInt8(0), count: 16)) { zip($0, $1.bytes).map { $0 | $1 } }
        let all = ids.reduce(Array(repeating: UInt8(255), count: 16)) { zip($0, $1.bytes).map { $0 & $1 } }
        let varying = zip(some, all).map { $0 ^ $1 }
        #expect(varying == [0, 0, 0, 0, 0, 0, 0x0F, 0xFF, 0x3F] + Array(repeating: 0xFF, count: 7))
    }

    @Test func `the text of an id is in lower case and parses back`() throws {
        let uuid = try #require(UUID(uuidString: "0198D0E7-7A5B-7C3D-8E9F-A0B1C2D3E4F5"))
        let id = ID<Draft>(uuid)
        #expect(id.description == "0198d0e7-7a5b-7c3d-8e9f-a0b1c2d3e4f5")
        #expect(id.rawValue == uuid && UUID(uuidString: id.description) == uuid)
        #expect(
            id.bytes == [
                0x01, 0x98, 0xD0, 0xE7, 0x7A, 0x5B, 0x7C, 0x3D, 0x8E, 0x9F, 0xA0, 0xB1, 0xC2, 0xD3, 0xE4, 0xF5,
            ]
        )
    }
}
