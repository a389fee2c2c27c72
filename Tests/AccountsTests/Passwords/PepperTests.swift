import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("The pepper of passwords", .freshDatabase, .timeLimit(.minutes(30)))
struct PepperTests {
    private static let second = "k2:v2:" + Data(repeating: 2, count: 32).base64EncodedString()
    private static let first = "k1:" + Data(repeating: 1, count: 32).base64EncodedString()
    private static let cheap = Argon2Tests.cheap
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `a hash does not verify without its pepper, even if the id is cut from the string`() throws {
        let pepper = try #require(try KeyRing(Self.second).pepper)
        let arena = try Arena(kibibytes: 64)
        let phc = try Argon2.hash(Secret(text: "correct horse"), with: Self.cheap, pepper: pepper, in: arena)
        #expect(phc.keyID == pepper.id)
        #expect(try Argon2.verify(Secret(text: "correct horse"), against: phc, pepper: pepper, in: arena))
        #expect(try !Argon2.verify(Secret(text: "wrong horse"), against: phc, pepper: pepper, in: arena))
        let stripped = PHCString(parameters: phc.parameters, salt: phc.salt, tag: phc.tag)
        #expect(try !Argon2.verify(Secret(text: "correct horse"), against: stripped, in: arena))
        let impostor = Pepper(id: pepper.id, key: Array(repeating: 0, count: 32))
        #expect(try !Argon2.verify(Secret(text: "correct horse"), against: phc, pepper: impostor, in: arena))
    }

    @Test func `the ring finds the pepper by its id, at any position`() throws {
        let pepper = try #require(try KeyRing(Self.second).pepper)
        let phc = PHCString(parameters: Self.cheap, keyID: pepper.id, salt: [], tag: [])
        #expect(try KeyRing("\(Self.first),\(Self.second)").pepper(of: phc)?.key == pepper.key)
        #expect(throws: HashingError.unknownPepper) { try KeyRing(Self.first).pepper(of: phc) }
        let old = try PHCString(Argon2Tests.known)
        #expect(try KeyRing(Self.second).pepper(of: old) == nil, "an older hash needs no pepper")
    }

    @Test func `the pool verifies a hash only with its own pepper`() async throws {
        let pepper = try #require(try KeyRing(Self.second).pepper)
        let pool = try HashingPool(parameters: Self.cheap, workers: 1, queue: 4)
        let phc = try await pool.hash(SharedSecret(text: "correct horse"), pepper: pepper)
        #expect(try await pool.verify(SharedSecret(text: "correct horse"), against: phc, pepper: pepper))
        await #expect(throws: HashingError.unknownPepper) {
            _ = try await pool.verify(SharedSecret(text: "correct horse"), against: phc)
        }
        pool.shutdown()
    }

    @Test func `a hash is renewed if its cost or its pepper is not the current one`() throws {
        let pepper = try #require(try KeyRing(Self.second).pepper)
        let other = try #require(try KeyRing(TestSignups.keys).pepper)
        let peppered = PHCString(parameters: Self.cheap, keyID: pepper.id, salt: [], tag: [])
        let plain = PHCString(parameters: Self.cheap, salt: [], tag: [])
        #expect(!peppered.needsRehash(for: Self.cheap, with: pepper))
        #expect(peppered.needsRehash(for: Self.cheap, with: other))
        #expect(!peppered.needsRehash(for: Self.cheap, with: nil), "a pepper is never removed")
        #expect(plain.needsRehash(for: Self.cheap, with: pepper))
        #expect(!plain.needsRehash(for: Self.cheap, with: nil))
        #expect(peppered.needsRehash(for: Argon2Parameters(), with: pepper))
    }

    @Test func `the credential of an account names the pepper of the first key`() async throws {
        try await TestSignups.with(keys: "\(Self.second),\(Self.first)") { service in
            _ = try await service.signups.commit(service.readyDraft())
            let stored = try session.query("SELECT secret FROM credentials").only.decode(String.self)
            #expect(try PHCString(stored).keyID == service.signups.keys.pepper?.id)
        }
    }

    /// An address that is long enough to be the password, so the service compares it with the password.
    private static let newAddress: Answers = ["email": "first.second.third@example.com"]

    @Test func `a server without the pepper of the password refuses a new address, and changes nothing`() async throws {
        let draft = try await TestSignups.with(keys: Self.second) { service in
            try await service.fill(service.start(), through: "password")
        }
        let both = "\(TestSignups.keys),\(Self.second)"
        try await TestSignups.with(keys: both) { service in
            _ = try await Operator(service.signups, name: "mina").rotateKeys()
        }
        let before = try session.dump()
        try await TestSignups.with { service in
            let now = try await service.signups.reread(draft)
            #expect(now.values == draft.values)
            await #expect {
                _ = try await service.submit(Self.newAddress, to: "email", of: now)
            } throws: { error in
                if case SubmitError.hashing(.unknownPepper) = error { true } else { false }
            }
            #expect(try session.dump() == before, "nothing is written, and no limit is charged")
        }
        // A server that has the key accepts the new address.
        try await TestSignups.with(keys: both) { service in
            let now = try await service.signups.reread(draft)
            let changed = try await service.submit(Self.newAddress, to: "email", of: now)
            #expect(
                (changed.values["password"] as? PasswordHash)?.phc == (draft.values["password"] as? PasswordHash)?.phc
            )
        }
    }

    @Test func `a stored password with a pepper is cleared if it equals the new address or its local part`()
        async throws
    {
        try await TestSignups.with(keys: Self.second) { service in
            let answers: Answers = [
                "password": .password("first.second.third"), "confirmation": .password("first.second.third"),
            ]
            let proved = try await service.fill(service.start(), through: "code")
            let draft = try await service.submit(answers, to: "password", of: proved)
            let changed = try await service.submit(Self.newAddress, to: "email", of: draft)
            #expect(!changed.values.contains("password"))
        }
    }
}
