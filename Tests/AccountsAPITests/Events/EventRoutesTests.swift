import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("The list of events for an application", .freshDatabase)
struct EventRoutesTests {
    private func list(_ shop: RelyingParty, _ query: String = "", secret: String = RelyingParty.secrets[0]) async throws
        -> Response
    {
        let basic = Data("\(shop.id):\(secret)".utf8).base64EncodedString()
        return try await shop.site.send(.get, "/events\(query)", [.authorization: "Basic \(basic)"])
    }

    @Test func `an application reads each event that it subscribes to once`() async throws {
        try await RelyingParty.with { shop in
            let registry = try RelyingParty.registry(shop.site.service.signups.flow, publicURL: "http://localhost:8080")
            try await shop.site.service.database.store(registry.current.subscribers)
            let commit = try #require(await Browser(shop.site).signUp().commit)
            try await DatabaseSession().waitUntilEventsAreListed()
            let first = try await list(shop)
            guard case .array(let events)? = first.json["events"] else { throw Missing() }
            #expect(events.map { $0["type"] } == ["account.created"])
            #expect(events.first?["data"]?["account"]?["id"] == commit.json["account"]?["id"])
            #expect(events.first?["data"]?["account"]?["email"] == "kim@example.com")
            #expect(first.json["more"] == false)
            let full = try await list(shop, "?limit=1")
            #expect(full.json["events"] == first.json["events"] && full.json["more"] == true)
            let next = try #require(first.json["next"]?.string)
            let later = try await list(shop, "?after=\(next)&limit=10")
            #expect(later.json["events"] == [] && later.json["next"]?.string == next)
        }
    }

    @Test func `the secret is encoded as in a form`() async throws {
        try await RelyingParty.with { shop in
            let registry = try RelyingParty.registry(shop.site.service.signups.flow, publicURL: "http://localhost:8080")
            try await shop.site.service.database.store(registry.current.subscribers)
            let encoded = RelyingParty.secrets[0].replacing("-", with: "%2D")
            #expect(try await list(shop, secret: encoded).status == 200)
            #expect(try await list(shop, secret: "%").status == 401)
        }
    }

    @Test func `a request without the secret, or with a malformed cursor or limit, is refused`() async throws {
        try await RelyingParty.with { shop in
            let refused = [
                try await list(shop, secret: "wrong"), try await list(shop.reader, secret: ""),
                try await shop.site.send(.get, "/events"),
            ]
            #expect(refused.map(\.status) == [401, 401, 401])
            let events = shop.site.log.lines.compactMap { $0["event"]?.string }
            #expect(events == Array(repeating: "application_refused", count: 3))
            for query in ["?after=x", "?limit=0", "?limit=101", "?limit=x"] {
                let malformed = try await list(shop, query)
                let detail = "The cursor is malformed, or the limit is not from 1 to 100."
                #expect(malformed.status == 400 && malformed.json["detail"] == .string(detail), "\(query)")
            }
            let foreign = try await list(shop, "?after=9000000000000000000-0198c0de-0000-7000-8000-000000000001")
            #expect(foreign.status == 400)
            #expect(foreign.json["detail"]?.string?.hasPrefix("The cursor is not from this database;") == true)
        }
    }
}
