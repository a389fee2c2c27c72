import Crypto
import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Delivery of events", .freshDatabase)
struct EventSenderTests {
    private static let shopURL = "https://shop.example/hooks"
    private static let secret = "whsec_" + Data(repeating: 1, count: 32).base64EncodedString()
    private static let next = "whsec_" + Data(repeating: 2, count: 32).base64EncodedString()
    private static let seed = "whsk_" + Data(repeating: 3, count: 32).base64EncodedString()

    private let session: DatabaseSession
    private let transport = TestTransport()

    init() throws {
        session = try DatabaseSession()
    }

    private static func subscriber(_ id: String, _ secrets: [String] = [secret]) throws -> EventSubscriber {
        EventSubscriber(
            id: id,
            webhook: Webhook(
                url: "https://\(id).example/hooks",
                events: Webhook.eventTypes,
                secrets: try secrets.map { try #require(WebhookSecret($0)) }
            ),
            backchannelLogoutURI: "https://\(id).example/logout",
            claims: { [.init("preferred_username", $0.username.map(JSON.string) ?? .null)] }
        )
    }

    private func sender(_ service: TestSignups, _ subscribers: [EventSubscriber]) async throws -> EventSender {
        try await service.database.store(subscribers)
        return other(service, subscribers)
    }

    /// The sender of a server whose applications file has these applications. It does not store them in the database.
    private func other(_ service: TestSignups, _ subscribers: [EventSubscriber]) -> EventSender {
        EventSender(
            subscribers: { subscribers },
            database: service.database,
            transport: transport,
            issuer: "https://accounts.example",
            signLogout: { claims, application in "\(application).\(JSON.object(claims).text)" },
            logger: .silent
        )
    }

    private func letPass(_ time: String) throws {
        try session.run(
            """
            UPDATE deliveries SET due_at = due_at - interval '\(time)';
            UPDATE applications SET paused_until = paused_until - interval '\(time)';
            UPDATE logouts SET due_at = due_at - interval '\(time)', created_at = created_at - interval '\(time)'
            """
        )
    }

    /// Makes every pause an hour longer, so that none ends before the test lets it pass.
    private func prolongPauses() throws {
        try session.run(
            """
            UPDATE deliveries SET due_at = due_at + interval '1 hour' WHERE due_at > now();
            UPDATE applications SET paused_until = paused_until + interval '1 hour' WHERE paused_until > now()
            """
        )
    }

    /// Writes this many events of each account.
    private func cause(_ count: Int, of accounts: [UUID]) throws {
        for _ in 1...count {
            for account in accounts { try session.query("SELECT write_event(\(account), 'account.updated')") }
        }
    }

    private func deliverAll(_ sender: EventSender) async throws -> [EventRequest] {
        while try await sender.deliverDue() > 0 {}
        return transport.take()
    }

    // MARK: - The request

    @Test func `webhooks arrive in the order of events, with the current claims of the account`() async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop")])
            let account = try await service.signups.commit(service.readyDraft()).account
            try session.run("UPDATE accounts SET username = 'mina'")
            let requests = try await deliverAll(sender)
            #expect(requests.map { $0.json?["type"] } == ["account.created", "account.updated"])
            #expect(requests.map { $0.json?["sequence"] } == [1, 2])
            let body = try #require(requests.first?.json)
            let expected: JSON = ["id": .string("\(account.id)"), "preferred_username": "mina"]
            #expect(body["data"] == ["account": expected])
            guard case .object(let members) = body else { throw Missing() }
            #expect(members.map(\.name) == ["type", "timestamp", "sequence", "data"])
            #expect(requests.allSatisfy { $0.url == Self.shopURL })
            #expect(Set(requests.map { $0.header("webhook-id") }).count == 2)
            #expect(try session.number(of: "deliveries") == 0)
        }
    }

    @Test func `webhooks about an erased account contain only its id`() async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop")])
            let account = try await service.signups.commit(service.readyDraft()).account
            try session.query("SELECT erase_account(\(account.id))")
            let requests = try await deliverAll(sender)
            #expect(requests.map { $0.json?["type"] } == ["account.created", "account.erased"])
            let bare: JSON = ["account": ["id": .string("\(account.id)")]]
            #expect(requests.allSatisfy { $0.json?["data"] == bare })
        }
    }

    @Test func `each secret signs the id, the time and the body`() async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop", [Self.next, Self.secret, Self.seed])])
            try cause(1, of: [UUID()])
            let request = try #require(try await deliverAll(sender).first)
            let (id, time) = (
                try #require(request.header("webhook-id")), try #require(request.header("webhook-timestamp"))
            )
            let signatures = try #require(request.header("webhook-signature")).split(separator: " ")
            let content = Array("\(id).\(time).".utf8) + request.body
            for (signature, byte) in zip(signatures, [2, 1] as [UInt8]) {
                let key = SymmetricKey(data: [UInt8](repeating: byte, count: 32))
                let code = Data(HMAC<SHA256>.authenticationCode(for: content, using: key)).base64EncodedString()
                #expect(signature == "v1,\(code)")
            }
            let key = try Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 3, count: 32)).publicKey
            #expect(signatures.count == 3 && signatures[2].hasPrefix("v1a,"))
            let signature = try #require(Data(base64Encoded: String(signatures[2].dropFirst(4))))
            #expect(key.isValidSignature(signature, for: content))
        }
    }

    // MARK: - Order and failures

    @Test func `a failed event delays only the later events of its account to this application`() async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop"), Self.subscriber("blog")])
            let (first, second) = (UUID(), UUID())
            try cause(2, of: [first])
            transport.answer(Self.shopURL, with: .answered(status: 500, retryAfter: 0))
            _ = try await deliverAll(sender)
            try prolongPauses()
            transport.answer(Self.shopURL, with: nil)
            try cause(1, of: [first, second])
            let requests = try await deliverAll(sender)
            #expect(requests.filter { $0.url != Self.shopURL }.map { $0.json?["sequence"] ?? 0 }.count == 2)
            let shop = requests.filter { $0.url == Self.shopURL }
            #expect(shop.count == 1, "only the event of the second account is delivered")
            try letPass("1 hour 6 seconds")
            let late = try await deliverAll(sender)
            #expect(late.map { $0.json?["sequence"] } == [1, 2, 3])
        }
    }

    @Test func `an event is tried ten times over three days, with the same id`() async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop")])
            transport.answer(Self.shopURL, with: .failed("Timeout was reached"))
            try cause(1, of: [UUID()])
            var requests: [EventRequest] = []
            for delay in [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400] {
                requests += try await deliverAll(sender)
                let wait = try session.query(
                    "SELECT extract(epoch FROM due_at - now())::bigint FROM deliveries WHERE state = 'waiting'"
                ).only.decode(Int.self)
                #expect((delay - 60...delay + delay / 10).contains(wait), "\(delay)")
                try letPass("\(delay + delay / 10 + 1) seconds")
            }
            requests += try await deliverAll(sender)
            #expect(requests.count == 10 && Set(requests.map { $0.header("webhook-id") }).count == 1)
            #expect(try session.number(of: "deliveries WHERE state = 'failed'") == 1)
            #expect(try session.number(of: "deliveries WHERE last_error = 'Timeout was reached'") == 1)
        }
    }

    @Test func `all attempts of an event are one trace, and each has a parent id of its own`() async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop")])
            transport.answer(Self.shopURL, with: .failed("Timeout was reached"))
            try cause(1, of: [UUID()])
            var requests = try await deliverAll(sender)
            try letPass("1 hour")
            requests += try await deliverAll(sender)
            let traces = try requests.map { request in
                let form = /00-(?<trace>[0-9a-f]{32})-(?<parent>[0-9a-f]{16})-01/
                return try #require(request.header("traceparent")?.wholeMatch(of: form)?.output)
            }
            let id = try #require(requests.first?.header("webhook-id"))
            #expect(traces.map { String($0.trace) } == [String](repeating: id.filter { $0 != "-" }, count: 2))
            #expect(traces.first?.parent != traces.last?.parent)
        }
    }

    @Test(arguments: [301, 302, 307, 400, 404])
    func `a redirect or a 4xx status is a failure`(status: Int) async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop")])
            transport.answer(Self.shopURL, with: .answered(status: status, retryAfter: 0))
            try cause(1, of: [UUID()])
            _ = try await deliverAll(sender)
            #expect(try session.number(of: "deliveries WHERE last_error = 'answered \(status)'") == 1)
        }
    }

    @Test func `410 switches the webhook off, and keeps the events`() async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop")])
            transport.answer(Self.shopURL, with: .answered(status: 410, retryAfter: 0))
            try cause(1, of: [UUID()])
            _ = try await deliverAll(sender)
            try cause(1, of: [UUID()])
            try letPass("1 day")
            #expect(try await deliverAll(sender).isEmpty)
            #expect(try session.number(of: "applications WHERE state = 'off'") == 1)
            #expect(try session.number(of: "deliveries WHERE state = 'waiting'") == 2)
        }
    }

    @Test(arguments: [(429, 0, 5), (503, 120, 120), (502, 0, 5)])
    func `an overloaded application gets no requests until its pause has ended`(
        status: Int,
        retryAfter: Int,
        pause: Int
    )
        async throws
    {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop")])
            transport.answer(Self.shopURL, with: .answered(status: status, retryAfter: retryAfter))
            try cause(1, of: [UUID()])
            #expect(try await deliverAll(sender).count == 1)
            try prolongPauses()
            transport.answer(Self.shopURL, with: nil)
            try cause(1, of: [UUID()])
            #expect(try await deliverAll(sender).isEmpty)
            try letPass("1 hour \(pause) seconds")
            #expect(try await deliverAll(sender).count == 2)
        }
    }

    @Test func `an application that is down gets one request at a time, and all when it is up again`() async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop")])
            transport.answer(Self.shopURL, with: .failed("Couldn't connect to server"))
            try cause(1, of: (1...40).map { _ in UUID() })
            #expect(try await deliverAll(sender).count == 8)
            try letPass("1 minute")
            #expect(try await deliverAll(sender).count == 1)
            transport.answer(Self.shopURL, with: nil)
            try letPass("10 minutes")
            let requests = try await deliverAll(sender)
            #expect(requests.count == 40)
            #expect(try session.number(of: "applications WHERE failures = 0") == 1)
        }
    }

    @Test func `an event that a server has claimed is due again if the server dies`() async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop")])
            try cause(1, of: [UUID()])
            try session.run(#"SELECT claim_deliveries('{"shop": 8}')"#)
            #expect(try await deliverAll(sender).isEmpty)
            try letPass("2 minutes")
            #expect(try await deliverAll(sender).count == 1)
        }
    }

    @Test func `endpoints share the concurrent requests evenly, at most eight for each`() {
        let inFlight = RequestsInFlight()
        let (a, b) = (RequestsInFlight.Endpoint.webhook("a"), RequestsInFlight.Endpoint.webhook("b"))
        #expect(inFlight.freeSlots(for: [a, .logout("a")], capacity: 32) == [a: 8, .logout("a"): 8])
        let many = (1...10).map { RequestsInFlight.Endpoint.webhook("\($0)") }
        #expect(inFlight.freeSlots(for: many, capacity: 32).values.allSatisfy { $0 == 3 })
        inFlight.begin(a)
        #expect(inFlight.freeSlots(for: [a], capacity: 32) == [a: 7])
        #expect(inFlight.freeSlots(for: [a, b], capacity: 2) == [b: 1])
        inFlight.end(a)
        #expect(inFlight.freeSlots(for: [a], capacity: 1) == [a: 1])
    }

    @Test func `applications for which nothing is due take no request from others`() async throws {
        try await TestSignups.with { service in
            let idle = (1...40).map { number in
                EventSubscriber(id: "idle-\(number)", backchannelLogoutURI: "https://idle-\(number).example/logout")
            }
            let sender = try await sender(service, idle + [Self.subscriber("shop")])
            try cause(1, of: (1...8).map { _ in UUID() })
            #expect(try await sender.deliverDue() == 8)
        }
    }

    @Test func `the running sender delivers all events`() async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop"), Self.subscriber("blog")])
            try cause(3, of: (1...20).map { _ in UUID() })
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await sender.run() }
                try await session.wait(for: "SELECT WHERE NOT EXISTS (SELECT FROM deliveries)")
                group.cancelAll()
            }
            #expect(transport.take().count == 120)
        }
    }

    // MARK: - Applications

    @Test func `a new applications file changes the wanted events, and deletes unwanted deliveries`() async throws {
        try await TestSignups.with { service in
            _ = try await sender(service, [Self.subscriber("shop"), Self.subscriber("blog")])
            try cause(1, of: [UUID()])
            #expect(try session.number(of: "deliveries") == 2)
            try await service.database.store([EventSubscriber(id: "shop", receiving: ["account.erased"])])
            #expect(try session.number(of: "applications") == 1)
            #expect(try session.number(of: "deliveries") == 1)
            try cause(1, of: [UUID()])
            #expect(try session.number(of: "events") == 1)
            try await service.database.store([EventSubscriber(id: "shop")])
            #expect(try session.number(of: "deliveries") == 0)
        }
    }

    @Test func `a server does not claim deliveries for an application that its file lacks`() async throws {
        try await TestSignups.with { service in
            let both = try await sender(service, [Self.subscriber("shop"), Self.subscriber("blog")])
            let shop = other(service, [try Self.subscriber("shop")])
            try cause(2, of: [UUID()])
            try session.run(
                """
                INSERT INTO logouts (sid, application, account)
                SELECT gen_random_uuid(), id, gen_random_uuid() FROM applications
                """
            )
            let delivered = try await deliverAll(shop)
            #expect(delivered.count == 3 && delivered.allSatisfy { $0.url.hasPrefix("https://shop.example/") })
            #expect(try session.number(of: "deliveries WHERE application = 'blog' AND attempts = 0") == 2)
            #expect(try session.number(of: "logouts WHERE application = 'blog' AND attempts = 0") == 1)
            let others = try await deliverAll(both)
            #expect(others.count == 3 && others.allSatisfy { $0.url.hasPrefix("https://blog.example/") })
        }
    }

    @Test func `stored applications that differ from the applications file are found`() async throws {
        try await TestSignups.with { service in
            let (shop, blog) = (try Self.subscriber("shop"), try Self.subscriber("blog"))
            try await service.database.store([shop, blog])
            for (subscribers, different) in [
                ([blog, shop], []), ([shop], ["blog"]), ([], ["blog", "shop"]),
                ([shop, blog, EventSubscriber(id: "wiki")], ["wiki"]),
                ([shop, EventSubscriber(id: "blog", receiving: Webhook.eventTypes)], ["blog"]),
                ([shop, EventSubscriber(id: "blog", receiving: [])], ["blog"]),
                ([shop, EventSubscriber(id: "blog", backchannelLogoutURI: blog.backchannelLogoutURI)], ["blog"]),
            ] as [([EventSubscriber], [String])] {
                let found = try await service.database.applications(unlike: subscribers)
                #expect(found == different)
            }
        }
    }

    @Test func `events are deleted after 30 days, and logouts after 25 hours`() async throws {
        try await TestSignups.with { service in
            _ = try await sender(service, [Self.subscriber("shop")])
            try cause(1, of: [UUID(), UUID()])
            let old = ID<AccountEvent>(at: Date() - 30 * 86_400 - 60)
            try session.query(
                """
                INSERT INTO events (id, account, sequence, type) VALUES (\(old), gen_random_uuid(), 1, 'account.updated')
                """
            )
            try session.run(
                """
                INSERT INTO logouts (sid, application, account, created_at)
                VALUES (gen_random_uuid(), 'shop', gen_random_uuid(), now() - interval '26 hours'),
                       (gen_random_uuid(), 'shop', gen_random_uuid(), now())
                """
            )
            _ = try await service.sweep()
            #expect(try session.number(of: "events") == 2)
            #expect(try session.number(of: "logouts") == 1)
        }
    }

    // MARK: - Back-channel logout

    /// Signs up with a session that has given `shop` a grant, and ends the session.
    private func signOut(_ service: TestSignups) async throws -> (sid: UUID, account: ID<Account>) {
        let account = try await service.signups.commit(service.readyDraft()).account.id
        let sid = UUID()
        try session.run(
            """
            INSERT INTO sessions (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, sealed)
            VALUES ('\(sid)', '\(account)', '', 1, 'pwd', false, '1 day', now() + interval '1 day', '');
            INSERT INTO grants (id, session, application, account) VALUES ('\(sid)', '\(sid)', 'shop', '\(account)');
            DELETE FROM sessions
            """
        )
        return (sid, account)
    }

    private func logouts(_ sender: EventSender) async throws -> [JSON] {
        try await deliverAll(sender).filter { $0.url.hasSuffix("/logout") }.compactMap { request in
            let text = String(decoding: request.body, as: UTF8.self)
            #expect(request.header("Content-Type") == "application/x-www-form-urlencoded")
            #expect(text.hasPrefix("logout_token=shop."))
            return try? JSON.read(Array(text.utf8.dropFirst("logout_token=shop.".utf8.count)))
        }
    }

    @Test(arguments: [503, 429, 408])
    func `an application is told that a session has ended, with a new token for each attempt`(
        status: Int
    ) async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop")])
            let (sid, account) = try await signOut(service)
            transport.answer("https://shop.example/logout", with: .answered(status: status, retryAfter: 0))
            let first = try #require(try await logouts(sender).first)
            #expect(first["iss"] == "https://accounts.example" && first["aud"] == "shop")
            #expect(first["sub"] == .string("\(account)") && first["sid"] == .string(sid.uuidString.lowercased()))
            #expect(first["events"] == ["http://schemas.openid.net/event/backchannel-logout": [:]])
            #expect(first["nonce"] == nil)
            guard case .integer(let issued)? = first["iat"], case .integer(let expiry)? = first["exp"] else {
                throw Missing()
            }
            #expect(expiry - issued == 120)
            #expect(try session.number(of: "logouts") == 1)
            transport.answer("https://shop.example/logout", with: nil)
            try letPass("6 seconds")
            let second = try #require(try await logouts(sender).first)
            #expect(second["jti"] != first["jti"] && second["sid"] == first["sid"])
            #expect(try session.number(of: "logouts") == 0)
        }
    }

    @Test(arguments: [(400, "0 seconds"), (302, "0 seconds"), (500, "24 hours")])
    func `a logout is given up after a permanent error, and after a day`(status: Int, time: String) async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop")])
            _ = try await signOut(service)
            transport.answer("https://shop.example/logout", with: .answered(status: status, retryAfter: 0))
            try letPass(time)
            #expect(try await logouts(sender).count == 1)
            #expect(try session.number(of: "logouts") == 0)
        }
    }

    @Test func `a logout waits an hour at most, however long the application asks for`() async throws {
        try await TestSignups.with { service in
            let sender = try await sender(service, [Self.subscriber("shop")])
            _ = try await signOut(service)
            transport.answer("https://shop.example/logout", with: .answered(status: 503, retryAfter: 86_400))
            #expect(try await logouts(sender).count == 1)
            transport.answer("https://shop.example/logout", with: nil)
            try letPass("59 minutes")
            #expect(try await logouts(sender).isEmpty)
            try letPass("2 minutes")
            #expect(try await logouts(sender).count == 1)
            #expect(try session.number(of: "logouts") == 0)
        }
    }

    private struct Missing: Error {}
}
