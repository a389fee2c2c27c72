import Accounts
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import accounts_api

@Suite("Requests of a client that are being answered")
struct ClientLimitTests {
    private let limit: ClientLimit
    private let scope: RequestScope

    init() throws {
        let channel = EmbeddedChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: "10.0.0.1", port: 1)
        scope = RequestScope(source: ApplicationRequestContextSource(channel: channel, logger: .silent))
        limit = ClientLimit(
            proxies: Proxies(trusted: [try #require(IPBlock("10.0.0.0/8"))]),
            limiter: ConcurrencyLimiter(perClient: 2)
        )
    }

    /// Sends a request of that client over the proxy; without a client, a request of the proxy itself. Runs `during`
    /// before the answer. Returns the slug of the problem that refuses it; nil if it is answered.
    private func send(
        from client: String?,
        during: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> Problem.Slug? {
        var head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/signup")
        if let client { head.headerFields[.forwardedFor] = client }
        do {
            _ = try await limit.handle(
                Request(head: head, body: RequestBody(buffer: ByteBuffer())),
                context: scope
            ) { _, context in
                let network = client.flatMap { IPAddress($0) }.map { Network($0) }
                #expect(network == nil || context.network == network)
                try await during()
                return HummingbirdCore.Response(status: .ok)
            }
            return nil
        } catch let problem as Problem {
            return problem.slug
        }
    }

    @Test func `a client has a limited number of requests behind a proxy, too, and others are not affected`()
        async throws
    {
        let (client, other) = ("198.51.100.7", "198.51.100.8")
        let outcome = try await send(from: client) {
            let second = try await send(from: client) {
                let (third, others, own) = (
                    try await send(from: client), try await send(from: other), try await send(from: nil)
                )
                #expect(third == .rateLimited && others == nil && own == nil)
            }
            let afterwards = try await send(from: client)
            #expect(second == nil && afterwards == nil)
        }
        #expect(outcome == nil)
    }

    @Test func `the requests that a proxy sends by itself are not counted`() async throws {
        let outcome = try await send(from: nil) {
            let second = try await send(from: nil) {
                let third = try await send(from: nil)
                #expect(third == nil)
            }
            #expect(second == nil)
        }
        #expect(outcome == nil)
    }
}
