import Crypto
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Signing keys that rotate under load", .freshDatabase, .timeLimit(.minutes(30)))
struct KeyRotationUnderLoadTests {
    /// The clock by which the server decides to read its signing keys again.
    private final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { time.withLock { $0 } }

        func advance(by duration: Duration) { time.withLock { $0 += duration } }
    }

    /// Reads the published keys, then signs in, refreshes the tokens and reads the person's data. Returns the ids of
    /// the keys that have signed the tokens.
    private func visit(_ shop: RelyingParty, _ browser: Browser) async throws -> Set<String> {
        let keys = try await shop.site.send(.get, "/oauth/keys").json
        let first = try await shop.signIn(browser)
        let second = try await shop.refresh(#require(first.json["refresh_token"]?.string))
        var used: Set<String> = []
        for answer in [first, second] {
            #expect(answer.status == 200)
            for member in ["id_token", "access_token"] {
                let token = try #require(answer.json[member]?.string)
                used.insert(try #require(try verifiedKey(of: token, among: keys), "no published key verifies it"))
            }
            let access = try #require(answer.json["access_token"]?.string)
            #expect(try await shop.userInfo(access).status == 200)
            let hint = try #require(answer.json["id_token"]?.string)
            let silent = ["prompt": "none", "id_token_hint": hint]
            #expect(try await shop.authorize(browser, silent).query["code"] != nil)
        }
        return used
    }

    /// The id of the published key that verifies the token (RFC 7518 §3.4); nil if none does.
    private func verifiedKey(of token: String, among published: JSON) throws -> String? {
        let parts = token.split(separator: ".")
        guard parts.count == 3, case .array(let keys)? = published["keys"],
            let header = [UInt8].fromBase64URL(parts[0].utf8), let signature = [UInt8].fromBase64URL(parts[2].utf8),
            let kid = try JSON.read(header)["kid"]?.string, let key = keys.first(where: { $0["kid"]?.string == kid }),
            let x = key["x"]?.string.flatMap({ [UInt8].fromBase64URL($0.utf8) }),
            let y = key["y"]?.string.flatMap({ [UInt8].fromBase64URL($0.utf8) })
        else { return nil }
        let publicKey = try P256.Signing.PublicKey(rawRepresentation: x + y)
        let content = Data("\(parts[0]).\(parts[1])".utf8)
        let isValid = try publicKey.isValidSignature(.init(rawRepresentation: signature), for: content)
        return isValid ? kid : nil
    }

    @Test func `the keys that a client has read before verify each of its tokens, and no token is refused`()
        async throws
    {
        let clock = Clock()
        try await TestServer.with(
            hasApplications: true,
            forwardAuthHosts: ["app.localhost"],
            signingClock: { clock.now }
        ) { site in
            let shop = RelyingParty(site: site)
            let browsers = (0..<8).map { _ in Browser(site) }
            for (number, browser) in browsers.enumerated() {
                try await browser.signUp("kim\(number)@example.com", "kim\(number)")
            }
            let session = try DatabaseSession()
            var used = try await visit(shop, browsers[0])
            for rotation in 1...4 {
                // Makes the next keys an hour old, so that a rotation may make them live.
                try session.run("UPDATE signing_keys SET created_at = now() - interval '1 hour'")
                let visits = try await atOnce(9) { number -> Set<String> in
                    guard number < 8 else {
                        try await Operator(site.service.signups, name: "mina").rotateSigningKeys()
                        // The server reads the keys again at its next request.
                        clock.advance(by: .seconds(61))
                        return []
                    }
                    return try await visit(shop, browsers[number]).union(visit(shop, browsers[number]))
                }
                for keys in visits { used.formUnion(keys) }
                used.formUnion(try await visit(shop, browsers[0]))
                #expect(used.count == rotation + 1, "each rotation has made another key live")
            }
            #expect(try session.query("SELECT FROM audit WHERE act = 'rotate signing keys'").count == 4)
        }
    }
}
