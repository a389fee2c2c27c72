import Foundation
import Testing

@testable import Accounts

@Suite("Hashing with Argon2id")
struct Argon2Tests {
    static let cheap = Argon2Parameters(memoryKiB: 64, iterations: 1)
    static let known = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"

    @Test func `the library computes the test vector of RFC 9106`() throws {
        let tag = try Argon2.tag(
            of: Secret(bytes: Array(repeating: 1, count: 32)),
            salt: Array(repeating: 2, count: 16),
            key: Array(repeating: 3, count: 8),
            associatedData: Array(repeating: 4, count: 12),
            parameters: Argon2Parameters(memoryKiB: 32, iterations: 3),
            lanes: 4,
            in: Arena(kibibytes: 32)
        )
        let vector: [UInt8] = [
            0x0d, 0x64, 0x0d, 0xf5, 0x8d, 0x78, 0x76, 0x6c, 0x08, 0xc0, 0x37, 0xa3, 0x4a, 0x8b, 0x53, 0xc9,
            0xd0, 0x1e, 0xf0, 0x45, 0x2d, 0x75, 0xb6, 0x5e, 0xb5, 0x25, 0x20, 0xe9, 0x6b, 0x01, 0xe6, 0x59,
        ]
        #expect(tag.withBytes(Array.init) == vector)
        #expect(throws: Never.self) { try Argon2.selfTest() }
    }

    @Test func `a hash made by the reference implementation is verified`() throws {
        let phc = try PHCString(Self.known)
        let arena = try Arena(kibibytes: 65_536)
        #expect(try Argon2.verify(Secret(text: "password"), against: phc, in: arena))
        #expect(try !Argon2.verify(Secret(text: "Password"), against: phc, in: arena))
    }

    @Test(arguments: ["", "correct horse battery staple", "a\0b", "비밀번호는 길게", String(repeating: "x", count: 1_024)])
    func `only the hashed password verifies against its hash`(password: String) throws {
        let arena = try Arena(kibibytes: 64)
        let phc = try Argon2.hash(Secret(text: password), with: Self.cheap, in: arena)
        #expect(try Argon2.verify(Secret(text: password), against: phc, in: arena))
        #expect(try !Argon2.verify(Secret(text: password + "."), against: phc, in: arena))
    }

    @Test func `the bytes after a NUL are part of the password`() throws {
        let arena = try Arena(kibibytes: 64)
        let phc = try Argon2.hash(Secret(text: "a\0b"), with: Self.cheap, in: arena)
        #expect(try !Argon2.verify(Secret(text: "a"), against: phc, in: arena))
        #expect(try !Argon2.verify(Secret(text: "a\0c"), against: phc, in: arena))
    }

    @Test func `each hash has a new salt of 16 bytes and a tag of 32 bytes`() throws {
        let arena = try Arena(kibibytes: 64)
        let one = try Argon2.hash(Secret(text: "same"), with: Self.cheap, in: arena)
        let other = try Argon2.hash(Secret(text: "same"), with: Self.cheap, in: arena)
        #expect(one.salt != other.salt && one.tag != other.tag)
        #expect(one.salt.count == 16 && one.tag.count == 32)
        #expect(try PHCString(one.rawValue) == one)
    }

    @Test func `a hash with several lanes is verified`() throws {
        let arena = try Arena(kibibytes: 64)
        let salt = Array("somesalt".utf8)
        let tag = try Argon2.tag(of: Secret(text: "p"), salt: salt, parameters: Self.cheap, lanes: 4, in: arena)
        let phc = PHCString(parameters: Self.cheap, parallelism: 4, salt: salt, tag: tag.withBytes(Array.init))
        #expect(try Argon2.verify(Secret(text: "p"), against: phc, in: arena))
    }

    @Test(arguments: [(salt: 7, memory: 64, code: -6), (8, 68, -22), (8, 7, -14)])
    func `invalid parameters, or too small an arena, cause the error code of libargon2`(
        salt: Int,
        memory: Int,
        code: Int32
    ) throws {
        let arena = try Arena(kibibytes: 64)
        #expect(throws: Argon2Error(code: code)) {
            _ = try Argon2.tag(
                of: Secret(text: "password"),
                salt: Array(repeating: 1, count: salt),
                parameters: Argon2Parameters(memoryKiB: memory, iterations: 1),
                in: arena
            )
        }
    }

    @Test func `the description of an error has the library's message`() {
        #expect(Argon2Error(code: -6).description == "argon2: Salt is too short (-6)")
    }

    @Test func `the arena is zero after a hash`() throws {
        let arena = try Arena(kibibytes: 64)
        _ = try Argon2.hash(Secret(text: "secret"), with: Self.cheap, in: arena)
        #expect(arena.withMemory { $0.count == 65_536 && $0.allSatisfy { $0 == 0 } })
    }

    @Test func `an arena that the system cannot allocate causes an error`() {
        #expect(throws: Argon2Error(code: -22)) { _ = try Arena(kibibytes: 1 << 40) }
    }
}

@Suite("The cost of a hash")
struct Argon2ParametersTests {
    @Test(arguments: Argon2Parameters.floor)
    func `each minimum cost is accepted, and less memory or fewer iterations are not`(row: Argon2Parameters) {
        #expect(row.meetsFloor && row.isWithinBounds)
        #expect(Argon2Parameters(memoryKiB: row.memoryKiB + 1, iterations: row.iterations + 1).meetsFloor)
        #expect(!Argon2Parameters(memoryKiB: row.memoryKiB - 1, iterations: row.iterations).meetsFloor)
        #expect(!Argon2Parameters(memoryKiB: row.memoryKiB, iterations: row.iterations - 1).meetsFloor)
    }

    @Test func `the default parameters are one of the minimum costs`() {
        #expect(Argon2Parameters() == Argon2Parameters(memoryKiB: 19_456, iterations: 2))
        #expect(Argon2Parameters.floor.contains(Argon2Parameters()))
    }
}

@Suite("A stored hash")
struct PHCStringTests {
    static let salt = "c29tZXNhbHQ"
    static let tag = "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"

    @Test(arguments: ["m=8,t=1,p=1", "m=262144,t=10,p=4", "m=32,t=1,p=4"])
    func `costs within the bounds are parsed and written back unchanged`(costs: String) throws {
        let text = "$argon2id$v=19$\(costs)$\(Self.salt)$\(Self.tag)"
        let phc = try PHCString(text)
        #expect(phc.rawValue == text)
        #expect(phc.salt == Array("somesalt".utf8))
        #expect(phc.description == "argon2id \(costs)")
    }

    @Test(arguments: [[0], Array(0...7)] as [[UInt8]])
    func `the id of a pepper follows the costs, in base64 without padding`(id: [UInt8]) throws {
        let base64 = Data(id).base64EncodedString().replacing("=", with: "")
        let text = "$argon2id$v=19$m=64,t=1,p=1,keyid=\(base64)$\(Self.salt)$\(Self.tag)"
        let phc = try PHCString(text)
        #expect(phc.keyID == id && phc.rawValue == text)
        #expect(try PHCString(Argon2Tests.known).keyID == nil)
    }

    @Test(arguments: [
        "m=262145,t=2,p=1", "m=65536,t=11,p=1", "m=65536,t=2,p=5", "m=7,t=1,p=1", "m=31,t=1,p=4", "m=0,t=0,p=0",
        "m=-8,t=1,p=1", "m=65536,t=0,p=1", "m=65536,t=2,p=0", "m=9223372036854775807,t=2,p=1",
    ])
    func `costs outside the bounds are refused`(costs: String) {
        #expect(throws: PHCStringError.outOfBounds) {
            try PHCString("$argon2id$v=19$\(costs)$\(Self.salt)$\(Self.tag)")
        }
    }

    @Test(arguments: [
        "", "$", "$$$$$", "password",
        "$argon2i$v=19$m=65536,t=2,p=1$\(salt)$\(tag)",
        "$argon2d$v=19$m=65536,t=2,p=1$\(salt)$\(tag)",
        "$argon2id$v=16$m=65536,t=2,p=1$\(salt)$\(tag)",
        "$argon2id$m=65536,t=2,p=1$\(salt)$\(tag)",
        "argon2id$v=19$m=65536,t=2,p=1$\(salt)$\(tag)",
        "$argon2id$v=19$m=065536,t=2,p=1$\(salt)$\(tag)",
        "$argon2id$v=19$m=+65536,t=2,p=1$\(salt)$\(tag)",
        "$argon2id$v=19$m=٣٣,t=2,p=1$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536, t=2,p=1$\(salt)$\(tag)",
        "$argon2id$v=19$t=2,m=65536,p=1$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=1,keyid=1$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=1,keyid=$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=1,keyid=AAECAwQFBgcI$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=1,keyid=AAECAwQFBgc=$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=1,keyid=AAECAwQFBgd$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,keyid=AAECAwQFBgc,p=1$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=1,keyid=AAECAwQFBgc,keyid=AAECAwQFBgc$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=1,keyid=AAECAwQFBgc,data=AAEC$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=1,data=AAEC$\(salt)$\(tag)",
        "$argon2id$v=19$m=99999999999999999999,t=2,p=1$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=1$\(salt)$\(tag)$",
        "$argon2id$v=19$m=65536,t=2,p=1$\(salt)$\(tag)\n",
        "$argon2id$v=19$m=65536,t=2,p=1$\(salt)=$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHR$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbA$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=1$\(salt)$CTFhFdXPJO1aFaMaO6Mm",
        "$argon2id$v=19$m=65536,t=2,p=1$\(salt)$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPP_",
        "$argon2id$v=19$m=65536,t=2,p=1$$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=1$\(salt)$",
    ])
    func `a text that is not a canonical Argon2id PHC string is malformed`(text: String) {
        #expect(throws: PHCStringError.malformed) { try PHCString(text) }
    }
}

extension Secret {
    /// Creates a secret from a text. The secret is wiped and the text is not, so this is only for tests.
    init(text: String) {
        self.init(bytes: Array(text.utf8))
    }

    init(bytes: [UInt8]) {
        self.init(capacity: bytes.count) { room in
            room.copyBytes(from: bytes)
            return bytes.count
        }
    }
}
