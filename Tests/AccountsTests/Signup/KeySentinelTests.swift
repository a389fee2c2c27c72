import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("The key sentinel", .freshDatabase, .timeLimit(.minutes(30)))
struct KeySentinelTests {
    private static let new = "new:" + Data(repeating: 9, count: 32).base64EncodedString()
    private static let both = "\(TestSignups.keys),\(new)"
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    /// Why a key ring does not fit the database of the test; nil if it fits.
    private func mismatch(of keys: String) async throws -> KeyMismatch? {
        let ring = try KeyRing(keys)
        return try await withDatabase { try await ring.mismatch(with: $0) }
    }

    @Test func `a ring fits if it has the first key of the first server`() async throws {
        #expect(try await mismatch(of: TestSignups.keys) == nil)
        #expect(try await mismatch(of: TestSignups.keys) == nil)
        #expect(try await mismatch(of: "\(Self.new),\(TestSignups.keys)") == nil)
        #expect(try await mismatch(of: Self.new) == .missing("test"))
        let impostor = "test:" + Data(repeating: 8, count: 32).base64EncodedString()
        let other = try await mismatch(of: impostor)
        #expect(other == .different("test"))
        let reason = "the key \"test\" in ACCOUNTS_KEYS differs from the key \"test\" of this database"
        #expect(other?.description == reason)
        #expect(try await mismatch(of: TestSignups.keys) == nil, "no other ring has replaced the sentinel")
        #expect(try session.number(of: "key_sentinel") == 1)
    }

    @Test func `a ring that opens no draft does not decide which keys are right`() async throws {
        _ = try await TestSignups.with { try await $0.start() }
        #expect(try await mismatch(of: Self.new) == .missing("test"))
        #expect(try session.number(of: "key_sentinel") == 0)
        #expect(try await mismatch(of: TestSignups.keys) == nil)
        #expect(try session.number(of: "key_sentinel") == 1)
    }

    @Test func `of two rings that servers check with an empty database at the same time, one fits`() async throws {
        let rings = [try KeyRing(TestSignups.keys), try KeyRing(Self.new)]
        let mismatches = try await withDatabase(connections: 6) { database in
            try await atOnce(20) { try await rings[$0 % 2].mismatch(with: database) }
        }
        #expect(try session.number(of: "key_sentinel") == 1)
        #expect(mismatches.count { $0 == nil } == 10)
        #expect(Set(mismatches.compactMap { $0?.description }).count == 1)
    }

    @Test func `after a rotation the new key is necessary and sufficient`() async throws {
        #expect(try await mismatch(of: TestSignups.keys) == nil)
        let rotated = try await TestSignups.with(keys: "\(Self.new),\(TestSignups.keys)") { service in
            try await Operator(service.signups, name: "mina").rotateKeys()
        }
        #expect(rotated == Operator.Rotated())
        #expect(try await mismatch(of: Self.new) == nil)
        #expect(try await mismatch(of: TestSignups.keys) == .missing("new"))
    }

    @Test func `a rotation without the key of the sentinel leaves it unchanged`() async throws {
        #expect(try await mismatch(of: TestSignups.keys) == nil)
        let rotated = try await TestSignups.with(keys: Self.new) { service in
            try await Operator(service.signups, name: "mina").rotateKeys()
        }
        #expect(rotated == Operator.Rotated(unreadable: 1))
        #expect(try await mismatch(of: TestSignups.keys) == nil)
    }
}
