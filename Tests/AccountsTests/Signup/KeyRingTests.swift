import Foundation
import Testing

@testable import Accounts

@Suite("The key ring")
struct KeyRingTests {
    static let old = "k1:" + key(0)
    static let new = "k2:" + key(100)
    static let draft = SealedPlace(table: "drafts", row: Array("a draft".utf8))
    private static let nowhere = SealedPlace(table: "", row: [])
    static let plaintext = Array("an address, a name, a date of birth".utf8)

    /// This many ascending bytes from `first` on, in base64.
    static func key(_ first: UInt8, count: UInt8 = 32) -> String {
        Data((0..<count).map { first + $0 }).base64EncodedString()
    }

    @Test(arguments: [[], [0], plaintext, Array(repeating: 0xFF, count: 65_536)])
    func `a sealed plaintext opens again`(plaintext: [UInt8]) throws {
        let ring = try KeyRing(Self.old)
        #expect(try ring.open(ring.seal(plaintext, for: Self.draft), for: Self.draft) == plaintext)
        #expect(try ring.open(ring.seal(plaintext, for: Self.nowhere), for: Self.nowhere) == plaintext)
    }

    @Test func `a box has its version and key id in plain text, and nothing of the plaintext`() throws {
        let box = try KeyRing(Self.old).seal(Self.plaintext, for: Self.draft)
        #expect(box.starts(with: [1, 2] + Array("k1".utf8)))
        #expect(box.count == 4 + 12 + Self.plaintext.count + 16)
        #expect(box.firstRange(of: Self.plaintext.prefix(4)) == nil)
    }

    @Test func `sealing the same plaintext again gives another box`() throws {
        let ring = try KeyRing(Self.old)
        let boxes = (0..<100).map { _ in ring.seal(Self.plaintext, for: Self.draft) }
        #expect(Set(boxes).count == 100)
        #expect(Set(boxes.map { $0[4..<16] }).count == 100)
    }

    /// Another implementation of HKDF-SHA-256 and AES-256-GCM has sealed the box, with the nonce 00…0b.
    @Test func `a box in the documented format opens`() throws {
        let box = try #require(Data(base64Encoded: "AQJrMQABAgMEBQYHCAkKCy/uQaLl6GBZ0AxQzxR7vZ0zFkxJEC71ryV3UNItGney"))
        #expect(try KeyRing(Self.old).open(Array(box), for: Self.draft) == Array("sealed elsewhere".utf8))
    }

    @Test(arguments: ["", "a draf", "a draft ", "A draft", "b draft"])
    func `a box opens only for its own row`(row: String) throws {
        let ring = try KeyRing(Self.old)
        let box = ring.seal(Self.plaintext, for: Self.draft)
        #expect(throws: UnsealingError.self) {
            try ring.open(box, for: SealedPlace(table: "drafts", row: Array(row.utf8)))
        }
    }

    @Test func `a box with any bit changed does not open`() throws {
        let ring = try KeyRing("\(Self.old),\(Self.new)")
        let box = ring.seal(Self.plaintext, for: Self.draft)
        for index in box.indices {
            for bit in 0..<8 {
                var tampered = box
                tampered[index] ^= 1 << bit
                #expect(throws: UnsealingError.self, "bit \(bit) of byte \(index)") {
                    try ring.open(tampered, for: Self.draft)
                }
            }
        }
    }

    @Test func `a truncated or extended box does not open`() throws {
        let ring = try KeyRing(Self.old)
        let box = ring.seal(Self.plaintext, for: Self.draft)
        for length in box.indices {
            #expect(throws: UnsealingError.self, "the first \(length) bytes") {
                try ring.open(Array(box.prefix(length)), for: Self.draft)
            }
        }
        #expect(throws: UnsealingError.self) { try ring.open(box + [0], for: Self.draft) }
        #expect(throws: UnsealingError.self) { try ring.open([1, 255], for: Self.draft) }
        #expect(throws: UnsealingError.self) { try ring.open([1, 0, 0], for: Self.draft) }
    }

    @Test func `a box that was sealed with an unknown key does not open`() throws {
        let box = try KeyRing(Self.old).seal(Self.plaintext, for: Self.draft)
        #expect(throws: UnsealingError.self) { try KeyRing(Self.new).open(box, for: Self.draft) }
        #expect(throws: UnsealingError.self) { try KeyRing("k1:\(Self.key(1))").open(box, for: Self.draft) }
        #expect(throws: UnsealingError.self) { try KeyRing("K1:\(Self.key(0))").open(box, for: Self.draft) }
    }

    @Test func `after a rotation the new key seals, and boxes of the old key still open`() throws {
        let before = try KeyRing(Self.old)
        let after = try KeyRing("\(Self.new),\(Self.old)")
        #expect(try after.open(before.seal(Self.plaintext, for: Self.draft), for: Self.draft) == Self.plaintext)
        let box = after.seal(Self.plaintext, for: Self.draft)
        #expect(box.starts(with: [1, 2] + Array("k2".utf8)))
        #expect(throws: UnsealingError.self) { try before.open(box, for: Self.draft) }
        #expect(try KeyRing(Self.new).open(box, for: Self.draft) == Self.plaintext)
    }

    // MARK: Digests

    /// Another implementation of HKDF-SHA-256 and HMAC-SHA-256 has computed the expected digest.
    @Test func `a digest is the HMAC of the parts with their lengths`() throws {
        let digest = try KeyRing(Self.old).digests(Array("address".utf8), Array("a@b.example".utf8))[0]
        #expect(Data(digest).base64EncodedString() == "ZWXMHpyTZV9thY0i4jbjVTotBpyzkEFYHL4WI6pD+lE=")
    }

    @Test func `different lists of parts have different digests`() throws {
        let ring = try KeyRing(Self.old)
        let a = Array("a".utf8)
        let digests = [
            ring.digests()[0], ring.digests([])[0], ring.digests([], [])[0], ring.digests(a)[0], ring.digests(a, [])[0],
            ring.digests([], a)[0],
            ring.digests(a, a)[0], ring.digests(a + a)[0], ring.digests(a, a, a)[0], ring.digests(a + a, a)[0],
            ring.digests(a, a + a)[0],
            ring.digests([0, 0, 0, 1] + a)[0], ring.digests(a + [0, 0, 0, 1] + a)[0],
        ]
        #expect(Set(digests).count == digests.count)
        #expect(digests.allSatisfy { $0.count == 32 })
    }

    @Test func `there is one digest for each key, the newest first`() throws {
        let parts = (Array("address".utf8), Array("a@b.example".utf8))
        let (old, new) = (try KeyRing(Self.old), try KeyRing(Self.new))
        let both = try KeyRing("\(Self.new),\(Self.old)")
        #expect(both.digests(parts.0, parts.1) == [new.digests(parts.0, parts.1)[0], old.digests(parts.0, parts.1)[0]])
        #expect(both.digests(parts.0, parts.1)[0] == new.digests(parts.0, parts.1)[0])
        #expect(old.digests(parts.0, parts.1)[0] != new.digests(parts.0, parts.1)[0])
    }

    // MARK: Parsing

    @Test(arguments: [
        "k1:" + key(0), " k1 : " + key(0) + " ", "k1:" + key(0) + "\n", "0:" + key(0), "K:" + key(0),
        String(repeating: "k", count: 32) + ":" + key(0), "k1:" + key(0) + ",k2:" + key(1) + ",k3:" + key(2),
        "k1:" + key(0) + ",",
    ])
    func `a key ring is parsed from its text`(text: String) throws {
        let ring = try KeyRing(text)
        #expect(try ring.open(ring.seal(Self.plaintext, for: Self.nowhere), for: Self.nowhere) == Self.plaintext)
        #expect(try ring.digests(Self.draft.row)[0] == KeyRing("k1:" + Self.key(0)).digests(Self.draft.row)[0])
    }

    @Test(arguments: [
        "k1", ":", "k1:", ":" + key(0), " :" + key(0), key(0), "k1=" + key(0), "k-1:" + key(0), "k 1:" + key(0),
        "é:" + key(0), "٣:" + key(0), String(repeating: "k", count: 33) + ":" + key(0), "k1:" + key(0, count: 31),
        "k1:" + key(0, count: 33), "k1:" + key(0).dropLast(), "k1:" + key(0) + "k2:" + key(1),
        "k1:" + String(repeating: "-_", count: 22), "k1:" + key(0, count: 16) + " " + key(0, count: 16),
        "k1:k2:" + key(0),
    ])
    func `the error for a malformed entry has its position`(entry: String) {
        func position(_ text: String) -> Int? {
            do throws(KeyRingError) {
                _ = try KeyRing(text)
                return nil
            } catch {
                guard case .malformed(let position) = error else { return nil }
                return position
            }
        }
        #expect(position(entry) == 1)
        #expect(position("\(Self.new),\(entry)") == 2)
    }

    @Test(arguments: ["", ",", ",,,"])
    func `a key ring without keys is refused`(text: String) {
        #expect { try KeyRing(text) } throws: { if case KeyRingError.empty = $0 { true } else { false } }
    }

    @Test func `two keys with the same id are refused`() {
        #expect { try KeyRing("\(Self.new),\(Self.old),k2:\(Self.key(7))") } throws: {
            if case KeyRingError.repeated(entry: 3) = $0 { true } else { false }
        }
    }

    @Test func `an error does not contain the key`() {
        let error = #expect(throws: KeyRingError.self) { try KeyRing("k1:" + Self.key(0, count: 31)) }
        #expect(error?.description.contains(Self.key(0).prefix(8)) == false)
        #expect(error?.description.contains("key 1") == true)
    }

    // MARK: Version 2

    static let v2 = "k1:v2:" + key(0)

    @Test(arguments: [[], [0], plaintext, Array(repeating: 0xFF, count: 65_536)])
    func `a plaintext sealed in format v2 opens again`(plaintext: [UInt8]) throws {
        let ring = try KeyRing(Self.v2)
        let box = ring.seal(plaintext, for: Self.draft)
        #expect(box.starts(with: [2, 2] + Array("k1".utf8)))
        #expect(box.count == 4 + 16 + plaintext.count + 16)
        #expect(try ring.open(box, for: Self.draft) == plaintext)
    }

    /// Another implementation of HKDF-SHA-256 and AES-256-GCM has sealed the box, with the salt 00…0f.
    @Test func `a box in the documented format v2 opens`() throws {
        let text = "AgJrMQABAgMEBQYHCAkKCwwNDg+yCaK45RzJkzHIICX6Z51g6wfZPF8hhQNeBjdnS8bARA=="
        let box = try #require(Data(base64Encoded: text))
        #expect(try KeyRing(Self.v2).open(Array(box), for: Self.draft) == Array("sealed elsewhere".utf8))
    }

    @Test func `each value in format v2 has its own salt`() throws {
        let ring = try KeyRing(Self.v2)
        let boxes = (0..<100).map { _ in ring.seal(Self.plaintext, for: Self.draft) }
        #expect(Set(boxes.map { $0[4..<20] }).count == 100)
    }

    static let row = Array("a draft".utf8)

    @Test(arguments: [
        SealedPlace(table: "outbox", row: row), SealedPlace(table: "draft", row: Array("sa draft".utf8)),
        SealedPlace(table: "drafts", row: Array("b draft".utf8)), SealedPlace(table: "drafts", row: row, columns: [[]]),
        SealedPlace(table: "drafts", row: [], columns: [row]),
    ])
    func `a value in format v2 opens only at its own place`(place: SealedPlace) throws {
        let ring = try KeyRing(Self.v2)
        let box = ring.seal(Self.plaintext, for: Self.draft)
        #expect(throws: UnsealingError.self) { try ring.open(box, for: place) }
    }

    @Test func `a box in format v2 with any bit changed, or of another length, does not open`() throws {
        let ring = try KeyRing("\(Self.v2),\(Self.new)")
        let box = ring.seal(Self.plaintext, for: Self.draft)
        for index in box.indices {
            for bit in 0..<8 {
                var tampered = box
                tampered[index] ^= 1 << bit
                #expect(throws: UnsealingError.self, "bit \(bit) of byte \(index)") {
                    try ring.open(tampered, for: Self.draft)
                }
            }
            #expect(throws: UnsealingError.self, "the first \(index) bytes") {
                try ring.open(Array(box.prefix(index)), for: Self.draft)
            }
        }
        #expect(throws: UnsealingError.self) { try ring.open(box + [0], for: Self.draft) }
    }

    @Test func `a key opens only boxes in the format of its own version`() throws {
        let (v1, v2) = (try KeyRing(Self.old), try KeyRing(Self.v2))
        for (sealer, opener) in [(v1, v2), (v2, v1)] {
            var box = sealer.seal(Self.plaintext, for: Self.draft)
            #expect(throws: UnsealingError.self) { try opener.open(box, for: Self.draft) }
            // The box does not open either if its version is changed to that of the other key.
            box[0] = 3 - box[0]
            #expect(throws: UnsealingError.self) { try opener.open(box, for: Self.draft) }
        }
        let both = try KeyRing("k2:v2:\(Self.key(100)),\(Self.old)")
        #expect(try both.open(v1.seal(Self.plaintext, for: Self.draft), for: Self.draft) == Self.plaintext)
        #expect(both.seal(Self.plaintext, for: Self.draft).starts(with: [2, 2] + Array("k2".utf8)))
    }

    @Test(arguments: [
        "k1:v2", "k1:v2:", "k1:v1:" + key(0), "k1:V2:" + key(0), "k1::" + key(0), "k1:v2::" + key(0),
        ":v2:" + key(0), "k1:v2:v2:" + key(0), "k1:v2:" + key(0, count: 31),
    ])
    func `a malformed entry of a v2 key is refused`(entry: String) {
        #expect { try KeyRing(entry) } throws: {
            if case KeyRingError.malformed(entry: 1) = $0 { true } else { false }
        }
    }

    @Test func `only a v2 key has a pepper, and different keys have different peppers`() throws {
        #expect(try KeyRing(Self.old).pepper == nil)
        let pepper = try #require(try KeyRing(Self.v2).pepper)
        // Another implementation of HKDF-SHA-256 has computed the expected values.
        #expect(Data(pepper.id).base64EncodedString() == "2WECGmvGYkA=")
        #expect(Data(pepper.key).base64EncodedString() == "OQJO4RJx52AqurJgXKOFAx7Oehex/kwKESwIvU0xU40=")
        // This key has the same id and other bytes.
        let other = try #require(try KeyRing("k1:v2:" + Self.key(1)).pepper)
        #expect(other.id != pepper.id && other.key != pepper.key)
    }
}
