import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Accounts

@Suite("Signing keys", .freshDatabase, .timeLimit(.minutes(30)))
struct SigningKeysTests {
    private static let claims: [JSON.Member] = [.init("sub", "kim"), .init("exp", 4_102_444_800)]
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    /// The clock of one server, which the test moves.
    private final class ServerClock: Sendable {
        private let time = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { time.withLock { $0 } }

        func advance(by duration: Duration) {
            time.withLock { $0 += duration }
        }
    }

    private func server(
        _ database: Database,
        keys: String = TestSignups.keys,
        _ clock: ServerClock = ServerClock()
    ) throws -> SigningKeys {
        SigningKeys(database: database, keys: try KeyRing(keys), now: { clock.now })
    }

    private func kid(of token: String) throws -> String {
        let header = try #require(token.split(separator: ".").first)
        let bytes = try #require([UInt8].fromBase64URL(Array(header.utf8)))
        return try #require(try JSON.read(bytes)["kid"]?.string)
    }

    /// The algorithm and the state of each stored key, such as `ES256 live`.
    private func stored(_ condition: String = "true") throws -> [String] {
        try session.query(
            SQL(stringLiteral: "SELECT algorithm || ' ' || state FROM signing_keys WHERE \(condition) ORDER BY 1")
        ).map { try $0.decode(String.self) }
    }

    private func rotate(isForced: Bool = false, keys: String = TestSignups.keys) async throws {
        try await TestSignups.with(keys: keys) { service in
            try await Operator(service.signups, name: "mina").rotateSigningKeys(isForced: isForced)
        }
    }

    private static let complete = ["ES256 live", "ES256 next", "RS256 live", "RS256 next"]

    @Test func `servers that need the first keys at the same time share them`() async throws {
        try await withDatabase(connections: 6) { database in
            let tokens = try await atOnce(4) { number in
                let algorithm = SigningAlgorithm.allCases[number % 2]
                return try await server(database).sign(Self.claims, type: .accessToken, by: algorithm)
            }
            #expect(try stored() == Self.complete)
            let reader = try server(database)
            for token in tokens {
                let verified = try await reader.verify(token, type: .accessToken)
                #expect(verified.claims["sub"] == "kim")
            }
        }
    }

    @Test func `requests that need the first keys at the same time read them once`() async throws {
        try await withDatabase { database in
            let keys = try server(database)
            let published = try await atOnce(20) { _ in try await keys.published }
            #expect(Set(published).count == 1)
            #expect(try stored() == Self.complete)
        }
    }

    @Test func `the live and the next keys are published, without private members`() async throws {
        try await withDatabase { database in
            let published = try await server(database).published
            guard case .array(let keys)? = published["keys"] else {
                Issue.record("no list: \(published.text)")
                return
            }
            #expect(keys.texts(of: "alg") == ["ES256", "RS256", "ES256", "RS256"])
            #expect(Set(keys.texts(of: "kid")).count == 4)
            for key in keys {
                guard case .object(let members) = key else { continue }
                let own = key["kty"] == "EC" ? ["crv", "kty", "x", "y"] : ["e", "kty", "n"]
                #expect(members.map(\.name) == own + ["alg", "kid", "use"])
            }
            let sealed = try session.query("SELECT sealed FROM signing_keys").map { try $0.decode([UInt8].self) }
            #expect(Set(sealed).count == 4 && sealed.allSatisfy { KeyRing.keyID(of: $0) == "test" })
        }
    }

    @Test func `a rotation makes the next keys live, and erases the private part of the old ones`() async throws {
        try await withDatabase { database in
            let clock = ServerClock()
            let keys = try server(database, clock)
            let before = try await keys.published
            let old = try await keys.sign(Self.claims, type: .idToken, by: .es256)
            try session.run("UPDATE signing_keys SET created_at = now() - interval '961 seconds'")
            try await rotate()
            #expect(try stored() == ["ES256 live", "ES256 next", "ES256 old", "RS256 live", "RS256 next", "RS256 old"])
            #expect(try stored("sealed IS NULL") == ["ES256 old", "RS256 old"])

            // A server that has not read the new keys yet signs with the old one, which is published.
            let same = try await keys.sign(Self.claims, type: .idToken, by: .es256)
            #expect(try kid(of: same) == kid(of: old))
            clock.advance(by: .seconds(61))
            let new = try await keys.sign(Self.claims, type: .idToken, by: .es256)
            #expect(try kid(of: new) != kid(of: old))
            #expect(try before.text.contains(kid(of: new)), "the new key was published before the rotation")
            let after = try await keys.published
            #expect(try after.text.contains(kid(of: old)) && after.text.contains(kid(of: new)))
            for token in [old, same, new] { _ = try await keys.verify(token, type: .idToken) }
            let audit = try session.query("SELECT operator || ': ' || act FROM audit").map {
                try $0.decode(String.self)
            }
            #expect(audit == ["mina: rotate signing keys"])
        }
    }

    @Test func `a token for the same claims is reused for half a minute, unless the key has changed`() async throws {
        try await withDatabase { database in
            let clock = ServerClock()
            let keys = try server(database, clock)
            @Sendable func token(_ sub: JSON, as type: JWTType = .identity, after seconds: Int) async throws -> String {
                try await keys.signOrReuse(
                    [.init("sub", sub)],
                    type: type,
                    by: .es256,
                    at: Date(timeIntervalSince1970: 4_000_000_000 + Double(seconds)),
                    for: .seconds(60)
                )
            }
            let first = try await token("kim", after: 0)
            let verified = try await keys.verify(first, type: .identity)
            #expect(
                verified.claims
                    == ["token_use": "identity", "sub": "kim", "iat": 4_000_000_000, "exp": 4_000_000_060]
            )
            let same = try await token("kim", after: 29)
            #expect(same == first)
            let lee = try await token("lee", after: 29)
            let leeVerified = try await keys.verify(lee, type: .identity)
            #expect(leeVerified.claims["sub"] == "lee" && leeVerified.claims["iat"] == 4_000_000_029)
            _ = try await keys.verify(token("kim", as: .idToken, after: 29), type: .idToken)
            let later = try await token("kim", after: 30)
            let laterVerified = try await keys.verify(later, type: .identity)
            #expect(laterVerified.claims["exp"] == 4_000_000_090)

            try await rotate(isForced: true)
            clock.advance(by: .seconds(61))
            let new = try await token("kim", after: 30)
            #expect(try kid(of: new) != kid(of: later))
        }
    }

    @Test func `an old key is published for a day, and verifies for 31 days`() async throws {
        try await withDatabase { database in
            let token = try await server(database).sign(Self.claims, type: .idToken, by: .rs256)
            try await rotate(isForced: true)
            for (age, isPublished, verifies) in [
                ("23 hours", true, true), ("25 hours", false, true), ("30 days", false, true),
                ("32 days", false, false),
            ] {
                try session.run(
                    "UPDATE signing_keys SET retired_at = now() - interval '\(age)' WHERE retired_at IS NOT NULL"
                )
                _ = try await TestSignups.with { try await $0.sweep() }
                let keys = try server(database)
                let published = try await keys.published
                #expect(try published.text.contains(kid(of: token)) == isPublished, "\(age)")
                let verified = try? await keys.verify(token, type: .idToken)
                #expect((verified != nil) == verifies, "\(age)")
            }
            #expect(try stored() == Self.complete)
        }
    }

    @Test func `a rotation waits until clients know the next keys, unless it is forced`() async throws {
        await #expect(throws: SigningKeyRotationError.self) { try await rotate() }
        await #expect(throws: SigningKeyRotationError.self, "without keys") { try await rotate(isForced: true) }
        #expect(try stored() == [])
        _ = try await withDatabase { try await server($0).published }
        await #expect(throws: SigningKeyRotationError.self) { try await rotate() }
        try session.run("UPDATE signing_keys SET created_at = now() - interval '900 seconds'")
        await #expect(
            throws: SigningKeyRotationError.self,
            "servers may publish the keys up to a minute after their creation"
        ) {
            try await rotate()
        }
        #expect(try stored() == Self.complete)
        #expect(try session.number(of: "audit") == 0)
        try await rotate(isForced: true)
        #expect(try stored("state = 'old'") == ["ES256 old", "RS256 old"])
    }

    @Test func `after a revocation no older key verifies a token or is published`() async throws {
        try await withDatabase { database in
            let clock = ServerClock()
            let keys = try server(database, clock)
            let old = try await keys.sign(Self.claims, type: .idToken, by: .es256)
            try await rotate(isForced: true)
            clock.advance(by: .seconds(61))
            let live = try await keys.sign(Self.claims, type: .idToken, by: .rs256)
            try await TestSignups.with { service in
                try await Operator(service.signups, name: "mina").revokeSigningKeys()
            }
            #expect(try stored() == Self.complete && stored("state = 'old'") == [])
            clock.advance(by: .seconds(61))
            let published = try await keys.published.text
            for token in [old, live] {
                await #expect(throws: SigningError.self) { try await keys.verify(token, type: .idToken) }
                #expect(try !published.contains(kid(of: token)))
            }
            let new = try await keys.sign(Self.claims, type: .idToken, by: .es256)
            let verified = try await keys.verify(new, type: .idToken)
            #expect(verified.claims["sub"] == "kim")
            #expect(try session.number(of: "audit WHERE act = 'revoke signing keys'") == 1)
        }
    }

    @Test func `of two rotations at the same time, one succeeds`() async throws {
        _ = try await withDatabase { try await server($0).published }
        try session.run("UPDATE signing_keys SET created_at = now() - interval '1 hour'")
        let outcomes = try await atOnce(2) { _ in await outcome { try await rotate() } }
        #expect(outcomes.count { $0 == "done" } == 1)
        #expect(try stored("state = 'old'") == ["ES256 old", "RS256 old"])
    }

    @Test func `an unknown key is looked up immediately, but at most once in five seconds`() async throws {
        try await withDatabase { database in
            let clock = ServerClock()
            let keys = try server(database, clock)
            _ = try await keys.published
            // The second rotation makes a key live that the server has never read.
            try await rotate(isForced: true)
            try await rotate(isForced: true)
            let token = try await server(database).sign(Self.claims, type: .idToken, by: .es256)
            await #expect(throws: SigningError.self) { try await keys.verify(token, type: .idToken) }
            clock.advance(by: .seconds(5))
            let verified = try await keys.verify(token, type: .idToken)
            #expect(verified.claims["sub"] == "kim")
        }
    }

    @Test func `a server continues with the keys that it knows while it cannot read the database`() async throws {
        try await withDatabase { database in
            let clock = ServerClock()
            let keys = try server(database, clock)
            let token = try await keys.sign(Self.claims, type: .idToken, by: .es256)
            try session.run("ALTER TABLE signing_keys RENAME TO hidden")
            clock.advance(by: .seconds(61))
            _ = try await keys.verify(token, type: .idToken)
            let other = try await keys.sign(Self.claims, type: .idToken, by: .es256)
            #expect(try kid(of: other) == kid(of: token))
            await #expect(throws: SigningError.self, "a server without keys") {
                try await server(database).published
            }
        }
    }

    @Test func `after a failed read the keys are read again in five seconds`() async throws {
        try await withDatabase { database in
            let clock = ServerClock()
            let keys = try server(database, clock)
            let token = try await keys.sign(Self.claims, type: .idToken, by: .es256)
            try session.run("ALTER TABLE signing_keys RENAME TO hidden")
            clock.advance(by: .seconds(61))
            let other = try await keys.sign(Self.claims, type: .idToken, by: .es256)
            try session.run("ALTER TABLE hidden RENAME TO signing_keys")
            try await rotate(isForced: true)
            clock.advance(by: .seconds(5))
            let new = try await keys.sign(Self.claims, type: .idToken, by: .es256)
            #expect(try kid(of: other) == kid(of: token) && kid(of: new) != kid(of: token))
        }
    }

    @Test func `after the read of a cancelled request the next request reads the keys`() async throws {
        try await withDatabase { database in
            let clock = ServerClock()
            let keys = try server(database, clock)
            _ = try await keys.published
            for _ in 1...2 { try await rotate(isForced: true) }
            let token = try await server(database).sign(Self.claims, type: .idToken, by: .es256)
            clock.advance(by: .seconds(61))
            await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try? await keys.published
            }.value
            let verified = try await keys.verify(token, type: .idToken)
            #expect(verified.claims["sub"] == "kim")
        }
    }

    @Test func `all requests with an unknown key wait for the read that finds it`() async throws {
        try await withDatabase(connections: 6) { database in
            let clock = ServerClock()
            let keys = try server(database, clock)
            _ = try await keys.published
            for _ in 1...2 { try await rotate(isForced: true) }
            let token = try await server(database).sign(Self.claims, type: .idToken, by: .es256)
            clock.advance(by: .seconds(61))
            try session.run("BEGIN; LOCK TABLE signing_keys")
            async let tokens = atOnce(4) { _ in try await keys.verify(token, type: .idToken).claims["sub"] }
            _ = try await DatabaseSession().waitUntilSomebodyIsBlocked()
            try session.run("COMMIT")
            #expect(try await tokens == ["kim", "kim", "kim", "kim"])
        }
    }

    @Test func `a server that cannot decrypt the private key verifies tokens, but signs none`() async throws {
        let other = "other:v2:" + Data(repeating: 9, count: 32).base64EncodedString()
        try await withDatabase { database in
            let token = try await server(database).sign(Self.claims, type: .idToken, by: .es256)
            let keys = try server(database, keys: other)
            _ = try await keys.verify(token, type: .idToken)
            await #expect(throws: SigningError.self) { try await keys.sign(Self.claims, type: .idToken, by: .es256) }
            #expect(try stored() == Self.complete)
        }
    }

    @Test func `a rotation of the key ring re-encrypts the private keys`() async throws {
        let new = "new:v2:" + Data(repeating: 9, count: 32).base64EncodedString()
        try await withDatabase { database in
            let token = try await server(database).sign(Self.claims, type: .idToken, by: .es256)
            let rotated = try await TestSignups.with(keys: "\(new),\(TestSignups.keys)") { service in
                try await Operator(service.signups, name: "mina").rotateKeys()
            }
            #expect(rotated.rows == ["signing keys": 4] && rotated.unreadable == 0)
            let again = try await server(database, keys: new).sign(Self.claims, type: .idToken, by: .es256)
            #expect(try kid(of: again) == kid(of: token))
        }
    }

    @Test func `a private key cannot be moved to another row`() async throws {
        try await withDatabase { database in
            _ = try await server(database).published
            try session.run(
                """
                UPDATE signing_keys SET sealed = (SELECT sealed FROM signing_keys WHERE state = 'next' LIMIT 1)
                 WHERE state = 'live'
                """
            )
            let keys = try server(database)
            for algorithm in SigningAlgorithm.allCases {
                await #expect(throws: SigningError.self) {
                    try await keys.sign(Self.claims, type: .idToken, by: algorithm)
                }
            }
        }
    }
}

extension [JSON] {
    fileprivate func texts(of member: String) -> [String?] { map { $0[member]?.string } }
}
