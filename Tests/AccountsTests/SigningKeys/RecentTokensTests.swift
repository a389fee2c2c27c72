import Testing

@testable import Accounts

@Suite("Recently signed tokens")
struct RecentTokensTests {
    private static func content(
        _ claims: String = "kim",
        type: JWTType = .identity,
        kid: String = "key"
    ) -> RecentTokens.Content {
        RecentTokens.Content(type: type, kid: kid, claims: Array(claims.utf8))
    }

    @Test(arguments: [(0, true), (29, true), (30, false), (1_000_000, false), (-1, false), (-1_000_000, false)])
    func `a token is reused for half a minute`(seconds: Int, isReused: Bool) {
        var tokens = RecentTokens()
        tokens.insert("token", for: Self.content(), issuedAt: 1_000_000)
        #expect(tokens.token(for: Self.content(), at: 1_000_000 + seconds) == (isReused ? "token" : nil))
    }

    @Test func `a token is reused only for the same claims, type and key`() {
        var tokens = RecentTokens()
        tokens.insert("token", for: Self.content(), issuedAt: 100)
        for other in [Self.content("lee"), Self.content(type: .idToken), Self.content(kid: "other")] {
            #expect(tokens.token(for: other, at: 100) == nil)
        }
    }

    @Test func `a newer token replaces an older one`() {
        var tokens = RecentTokens()
        tokens.insert("old", for: Self.content(), issuedAt: 100)
        tokens.insert("new", for: Self.content(), issuedAt: 130)
        #expect(tokens.token(for: Self.content(), at: 131) == "new")
    }

    @Test func `the number of tokens is limited`() {
        var tokens = RecentTokens(capacity: 10)
        for number in 0..<1000 {
            tokens.insert("\(number)", for: Self.content("\(number)"), issuedAt: 100)
            #expect(tokens.count <= 20)
        }
        for number in 990..<1000 {
            #expect(tokens.token(for: Self.content("\(number)"), at: 100) == "\(number)")
        }
        #expect(tokens.token(for: Self.content("0"), at: 100) == nil)
    }

    @Test func `expired tokens are dropped when others are signed`() {
        var tokens = RecentTokens(capacity: 10)
        for number in 0..<5 { tokens.insert("token", for: Self.content("\(number)"), issuedAt: 100) }
        tokens.insert("token", for: Self.content("lee"), issuedAt: 130)
        tokens.insert("token", for: Self.content("kim"), issuedAt: 160)
        #expect(tokens.count == 2)
    }
}
