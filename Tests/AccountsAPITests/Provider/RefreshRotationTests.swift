import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("Refresh tokens of many tabs", .freshDatabase)
struct RefreshRotationTests {
    /// Sends this refresh token from several tabs at once. Returns the refresh tokens that they get, with nil if a tab
    /// gets none.
    private func refreshed(_ shop: RelyingParty, _ token: String, tabs: Int) async throws -> Set<String?> {
        Set(try await atOnce(tabs) { _ in try await shop.refresh(token).json["refresh_token"]?.string })
    }

    @Test func `fifty tabs refresh at once, and get the same token`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            var token = try #require(try await shop.signIn(kim).json["refresh_token"]?.string)
            for _ in 0..<20 {
                let tokens = try await refreshed(shop, token, tabs: 50)
                #expect(tokens.count == 1)
                token = try #require(tokens.first ?? nil)
            }
        }
    }

    /// In each rotation two tabs send the newest token at once, and then a third tab sends the token before it.
    @Test func `after a thousand rotations nobody is signed out, and one token lives`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            var tokens = [try #require(try await shop.signIn(kim).json["refresh_token"]?.string)]
            for rotation in 1...1000 {
                let (newest, before) = (tokens[rotation - 1], tokens[max(rotation - 2, 0)])
                let next = try await refreshed(shop, newest, tabs: 2)
                let late = rotation == 1 ? nil : try await shop.refresh(before).json["refresh_token"]?.string
                try #require(next.count == 1 && (rotation == 1 || late == newest), "rotation \(rotation)")
                tokens.append(try #require(next.first ?? nil))
            }
            let session = try DatabaseSession()
            #expect(Set(tokens).count == 1001)
            #expect(try session.query("SELECT FROM authorizations WHERE refresh_tokens LIKE '1000 %'").count == 1)
            #expect(try session.query("SELECT FROM authorizations").count == 1)
            #expect(try await shop.refresh(tokens[1000]).status == 200)
            // The use of a token that was replaced long ago is a sign of theft.
            #expect(try await shop.refresh(tokens[500]).json["error"] == "invalid_grant")
            #expect(try session.query("SELECT FROM authorizations").isEmpty)
        }
    }
}
