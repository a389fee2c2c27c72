import Foundation
import Testing

@testable import Accounts

@Suite("Pseudonyms of networks")
struct NetworkPseudonymTests {
    private static let noon = Date(timeIntervalSince1970: 1_700_000_000)
    private static let midnight = Date(timeIntervalSince1970: 19_676 * 86_400)

    private func name(_ address: String, at time: Date = noon, ring: String = KeyRingTests.old) throws -> String {
        try KeyRing(ring).pseudonym(of: Network(#require(IPAddress(address))), at: time)
    }

    /// Another implementation of HKDF-SHA-256 and HMAC-SHA-256 has computed the expected value.
    @Test func `the pseudonym has the known value`() throws {
        #expect(try name("192.0.2.1") == "c1b59f0207476829")
    }

    @Test func `addresses of one network have the same pseudonym, and others have another`() throws {
        let name = try name("2001:db8::1")
        #expect(try self.name("2001:db8::ffff:1") == name)
        let others = try ["2001:db8:0:1::1", "192.0.2.1", "192.0.2.2", "::ffff:192.0.2.2"].map { try self.name($0) }
        #expect(Set(others + [name]).count == 4 && others[2] == others[3])
    }

    @Test func `the pseudonym changes at midnight UTC and at no other time`() throws {
        let before = try name("192.0.2.1", at: Self.midnight - 0.001)
        #expect(before == (try name("192.0.2.1")))
        let after = try name("192.0.2.1", at: Self.midnight)
        #expect(after != before)
        #expect(try name("192.0.2.1", at: Self.midnight + 86_399.999) == after)
        #expect(try name("192.0.2.1", at: Self.midnight + 86_400) != after)
    }

    @Test func `rings with the same first key agree, and others do not`() throws {
        let name = try name("192.0.2.1")
        #expect(try self.name("192.0.2.1", ring: "\(KeyRingTests.old),\(KeyRingTests.new)") == name)
        #expect(try self.name("192.0.2.1", ring: KeyRingTests.new) != name)
    }

    @Test func `a pseudonym differs from the digest of the same parts in the database`() throws {
        let ring = try KeyRing(KeyRingTests.old)
        let parts: [[UInt8]] = [[1, 2], [3]]
        #expect(ring.pseudonym(parts) != ring.digest(parts))
    }

    @Test func `clients without an address share a pseudonym of 16 digits`() throws {
        let name = try KeyRing(KeyRingTests.old).pseudonym(of: .unknown, at: Self.noon)
        #expect(name.utf8.count == 16 && name.allSatisfy { "0123456789abcdef".contains($0) })
    }
}
