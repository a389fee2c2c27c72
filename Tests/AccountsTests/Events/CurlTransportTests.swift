import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Requests to applications", .timeLimit(.minutes(30)))
struct CurlTransportTests {
    private static let secret = "whsec_" + Data(repeating: 1, count: 32).base64EncodedString()

    private func request(to url: String) -> EventRequest {
        EventRequest(url: url, headers: ["Content-Type: application/json"], body: Array("{}".utf8))
    }

    /// Sends one request to this path of a new receiver, and returns the outcome and the requests that arrived.
    private func post(
        _ path: String,
        allowsLoopback: Bool = true
    ) async throws -> (outcome: EventOutcome, requests: [WebhookReceiver.Request]) {
        let receiver = try await WebhookReceiver.start(secret: Self.secret)
        let transport = CurlTransport(allowsLoopback: allowsLoopback, timeout: .seconds(300))
        let outcome = await transport.post(request(to: receiver.url + path))
        transport.shutdown()
        return (outcome, try await receiver.stop())
    }

    @Test(arguments: [("/200", 200, 0), ("/204", 204, 0), ("/410", 410, 0), ("/429", 429, 120), ("/500", 500, 0)])
    func `the outcome has the status of the response and its Retry-After`(path: String, status: Int, retryAfter: Int)
        async throws
    {
        let (outcome, requests) = try await post(path)
        #expect(outcome == .answered(status: status, retryAfter: retryAfter))
        #expect(requests.map(\.path) == [path] && requests.map(\.body) == ["{}"])
    }

    @Test func `a redirect is not followed`() async throws {
        let (outcome, requests) = try await post("/redirect")
        #expect(outcome == .answered(status: 302, retryAfter: 0))
        #expect(requests.map(\.path) == ["/redirect"])
    }

    @Test func `a response with a long body succeeds`() async throws {
        let (outcome, requests) = try await post("/long")
        #expect(outcome == .answered(status: 200, retryAfter: 0))
        #expect(requests.count == 1)
    }

    @Test func `a loopback address is not reached unless it is allowed`() async throws {
        let (outcome, requests) = try await post("/200", allowsLoopback: false)
        guard case .failed = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(requests.isEmpty)
    }

    @Test(arguments: [
        "https://127.0.0.1:1/", "https://localhost:1/", "https://[::1]:1/", "https://0x7f000001:1/", "https://127.1:1/",
        "https://2130706433:1/", "https://10.0.0.1:1/", "https://169.254.169.254/", "https://[::ffff:127.0.0.1]:1/",
        "https://[64:ff9b::7f00:1]:1/", "https://0.0.0.0:1/",
    ])
    func `an address that is not public is refused before a connection is opened`(url: String) async throws {
        let transport = CurlTransport(allowsLoopback: false)
        let outcome = await transport.post(request(to: url))
        #expect(outcome == .failed("the address is not allowed"))
        transport.shutdown()
    }

    @Test(arguments: [("https://10.255.255.1:1/", true), ("http://10.255.255.1:1/", false)])
    func `a private network that the operator allows is reached only with https`(url: String, isAllowed: Bool)
        async throws
    {
        let network = try #require(IPBlock("10.255.0.0/16"))
        let transport = CurlTransport(
            allowsLoopback: true,
            networks: [network],
            capacity: 1,
            timeout: .milliseconds(200)
        )
        let outcome = await transport.post(request(to: url))
        // No server answers at this address, so an allowed request fails with another error or exceeds the timeout.
        #expect((outcome != .failed("the address is not allowed")) == isAllowed)
        transport.shutdown()
    }

    @Test func `http reaches no address except loopback addresses`() async throws {
        let transport = CurlTransport(allowsLoopback: true)
        let outcome = await transport.post(request(to: "http://1.1.1.1:1/"))
        #expect(outcome == .failed("the address is not allowed"))
        transport.shutdown()
    }

    @Test func `a host with a refused and an allowed address fails for the reason of the allowed one`() throws {
        var state = TransferState(
            addresses: ReceiverAddresses(allowsLoopback: false, networks: []),
            isEncrypted: true
        )
        #expect(!state.hasOnlyRefusedAddresses, "a name that does not resolve has another reason")
        let isPrivateAllowed = state.allows(try #require(IPAddress("10.0.0.1")))
        #expect(!isPrivateAllowed && state.hasOnlyRefusedAddresses)
        let isPublicAllowed = state.allows(try #require(IPAddress("1.1.1.1")))
        #expect(isPublicAllowed && !state.hasOnlyRefusedAddresses)
    }

    @Test func `an application that does not answer fails after the timeout`() async throws {
        let server = try SilentServer()
        let url = server.url.replacing("smtp://", with: "http://")
        let transport = CurlTransport(allowsLoopback: true, capacity: 1, timeout: .milliseconds(200))
        let outcome = await transport.post(request(to: url))
        withExtendedLifetime(server) {}
        #expect(outcome == .failed("Timeout was reached"))
        transport.shutdown()
    }
}

@Suite("Webhooks as their receiver sees them", .freshDatabase, .timeLimit(.minutes(30)))
struct WebhookReceiverTests {
    @Test func `the library of Standard Webhooks accepts every webhook`() async throws {
        let secret = "whsec_" + Data(repeating: 1, count: 32).base64EncodedString()
        let next = "whsec_" + Data(repeating: 2, count: 32).base64EncodedString()
        try await TestSignups.with { service in
            let receiver = try await WebhookReceiver.start(secret: secret)
            let transport = CurlTransport(allowsLoopback: true, timeout: .seconds(300))
            let secrets = try [next, secret].map { try #require(WebhookSecret($0)) }
            let shop = EventSubscriber(
                id: "shop",
                webhook: Webhook(url: receiver.url + "/hooks", events: Webhook.eventTypes, secrets: secrets),
                claims: { [.init("name", .string("\($0.username ?? "") 안녕"))] }
            )
            try await service.database.store([shop])
            let sender = EventSender(
                subscribers: { [shop] },
                database: service.database,
                transport: transport,
                issuer: "",
                signLogout: { _, _ in "" },
                logger: .silent
            )
            _ = try await service.signups.commit(service.readyDraft())
            let session = try DatabaseSession()
            try session.run("UPDATE accounts SET username = 'mina'")
            while try await sender.deliverDue() > 0 {}
            transport.shutdown()
            let requests = try await receiver.stop()
            #expect(requests.count == 2 && requests.allSatisfy(\.valid))
            #expect(requests.allSatisfy { $0.body.contains("mina 안녕") })
        }
    }
}
