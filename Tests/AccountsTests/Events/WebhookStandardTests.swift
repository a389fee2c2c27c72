import Crypto
import Foundation
import TestSupport
import Testing

@testable import Accounts

/// The requirements of Standard Webhooks 1.0.0 for a single webhook. ``EventSenderTests`` tests the order and retries.
@Suite("The form of a webhook", .freshDatabase)
struct WebhookStandardTests {
    private let session: DatabaseSession
    private let transport = TestTransport()

    init() throws {
        session = try DatabaseSession()
    }

    /// An endpoint whose secret consists of 32 times this byte.
    private static func endpoint(_ id: String, _ byte: UInt8, claim: String = "") throws -> EventSubscriber {
        let secret = try #require(WebhookSecret("whsec_" + Data(repeating: byte, count: 32).base64EncodedString()))
        return EventSubscriber(
            id: id,
            webhook: Webhook(url: "https://\(id).example/hooks", events: Webhook.eventTypes, secrets: [secret]),
            claims: { _ in [.init("name", .string(claim))] }
        )
    }

    /// The requests to the endpoints about one new account, whose events are an hour old.
    private func requests(_ service: TestSignups, _ endpoints: [EventSubscriber]) async throws -> [EventRequest] {
        try await service.database.store(endpoints)
        let sender = EventSender(
            subscribers: { endpoints },
            database: service.database,
            transport: transport,
            issuer: "https://accounts.example",
            signLogout: { _, _ in "" },
            logger: .silent
        )
        _ = try await service.signups.commit(service.readyDraft())
        try session.run("UPDATE events SET created_at = created_at - interval '1 hour'")
        while try await sender.deliverDue() > 0 {}
        return transport.take()
    }

    @Test func `each endpoint has its own key, and an event has the same id at all endpoints`() async throws {
        try await TestSignups.with { service in
            let endpoints = try [Self.endpoint("shop", 1), Self.endpoint("blog", 2)]
            let requests = try await requests(service, endpoints)
            #expect(requests.count == 2 && Set(requests.map { $0.header("webhook-id") }).count == 1)
            for (id, byte) in [("shop", 1), ("blog", 2)] as [(String, UInt8)] {
                let request = try #require(requests.first { $0.url == "https://\(id).example/hooks" })
                let (event, time) = (request.header("webhook-id") ?? "", request.header("webhook-timestamp") ?? "")
                let key = SymmetricKey(data: [UInt8](repeating: byte, count: 32))
                let code = HMAC<SHA256>.authenticationCode(
                    for: Array("\(event).\(time).".utf8) + request.body,
                    using: key
                )
                #expect(request.header("webhook-signature") == "v1,\(Data(code).base64EncodedString())")
            }
        }
    }

    @Test func `the header has the time of the attempt, and the body has the time of the event`() async throws {
        try await TestSignups.with { service in
            let request = try #require(try await requests(service, [Self.endpoint("shop", 1)]).first)
            let id = try #require(request.header("webhook-id"))
            #expect(UUID(uuidString: id) != nil && !id.contains("."))
            let attempt = try #require(request.header("webhook-timestamp").flatMap { Int($0) })
            let event = try session.query("SELECT extract(epoch FROM created_at)::bigint FROM events").only
                .decode(Int.self)
            #expect((3500...3700).contains(attempt - event), "both times are in whole seconds")
            let written = try session.query("SELECT created_at FROM events").only.decode(Date.self).timestamp
            #expect(request.json?["timestamp"]?.string == written)
            #expect(request.header("Content-Type") == "application/json")
        }
    }

    @Test(arguments: [(100, true), (19_000, true), (21_000, false), (500_000, false)])
    func `a body has at most 20,000 bytes, and a longer one is sent without the claims`(length: Int, hasClaims: Bool)
        async throws
    {
        try await TestSignups.with { service in
            let claim = String(repeating: "a", count: length)
            let request = try #require(try await requests(service, [Self.endpoint("shop", 1, claim: claim)]).first)
            #expect(request.body.count <= 20_000)
            let account = try #require(request.json?["data"]?["account"])
            #expect(account["id"] != nil && (account["name"] != nil) == hasClaims)
        }
    }

    @Test(arguments: Webhook.eventTypes)
    func `an event type consists of words with full stops between them`(type: String) {
        #expect(type.wholeMatch(of: /[a-z_]+(\.[a-z_]+)+/) != nil)
    }

    @Test func `the waits between attempts grow, have a random part, and end after the tenth attempt`() {
        #expect(RetrySchedule.delay(after: 10) == nil)
        let waits = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
        for (attempt, wait) in zip(1..., waits) {
            let delays = (0..<200).map { _ in RetrySchedule.delay(after: attempt) ?? 0 }
            #expect(delays.allSatisfy { (wait...wait + wait / 10).contains($0) }, "attempt \(attempt)")
            #expect(wait < 300 || Set(delays).count > 1)
        }
    }
}
