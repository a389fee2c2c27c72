import HTTPTypes
import HummingbirdTesting
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Connections", .freshDatabase, .timeLimit(.minutes(30)))
struct ConnectionGuardTests {
    private func exchange(_ request: String, within limits: ConnectionLimits = .lavish) async throws
        -> String
    {
        let responses = AsyncStream<String>.makeStream()
        try await TestServer.with(.socket, connections: limits) { site in
            let port = try #require(site.client.port)
            responses.continuation.yield(
                try await onThread {
                    let client = try RawClient(port: port)
                    try client.send(request)
                    return client.readAll()
                }
            )
        }
        return try #require(await responses.stream.first { _ in true })
    }

    private static let end = "Host: x\r\nConnection: close\r\n\r\n"

    @Test(arguments: [
        ("nonsense\r\n\r\n", "400 Bad Request", "malformed-request"),
        ("GET /signup HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n", "400 Bad Request", "malformed-request"),
        (
            "POST /signup HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\(end)2\r\n{}\r\n0\r\n\r\n",
            "400 Bad Request", "malformed-request"
        ),
        (
            "POST /signup HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n\(end)2\r\n{}\r\n0\r\n\r\n",
            "400 Bad Request", "malformed-request"
        ),
        ("GET /\(String(repeating: "a", count: 8192)) HTTP/1.1\r\n\(end)", "414 ", "uri-too-long"),
        (
            "GET /signup HTTP/1.1\r\nX: \(String(repeating: "a", count: 16_400))\r\n\(end)",
            "431 Request Header Fields Too Large", "headers-too-large"
        ),
        (
            "GET /signup HTTP/1.1\r\n\(String(repeating: "X: 1\r\n", count: 101))\(end)",
            "431 Request Header Fields Too Large", "headers-too-large"
        ),
    ])
    func `a request that the HTTP parser rejects gets a problem with all security headers`(
        request: String,
        status: String,
        slug: String
    )
        async throws
    {
        let response = try await exchange(request)
        #expect(response.hasPrefix("HTTP/1.1 \(status)"))
        let head = response.prefix { $0 != "{" }.lowercased()
        for field in [
            "content-type: application/problem+json", "cache-control: no-store", "x-content-type-options: nosniff",
            "referrer-policy: no-referrer", "x-request-id: ",
            "content-security-policy: default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
            "cross-origin-opener-policy: same-origin", "permissions-policy: camera=()",
            "cross-origin-resource-policy: same-origin",
        ] {
            #expect(head.contains("\r\n\(field)"))
        }
        #expect(!head.contains("server:"))
        let body = try JSON.read(Array(response.suffix(from: try #require(response.firstIndex(of: "{"))).utf8))
        #expect(body["type"]?.string?.hasSuffix("/problems/\(slug)") == true)
    }

    @Test func `a request with a hundred header fields and a path of eight thousand bytes is served`() async throws {
        let fields = String(repeating: "X: 1\r\n", count: 97)
        let response = try await exchange(
            "GET /\(String(repeating: "a", count: 8000)) HTTP/1.1\r\n\(fields)\(Self.end)"
        )
        #expect(response.hasPrefix("HTTP/1.1 404"))
    }

    @Test(arguments: [
        "", "GET /health/live HTTP/1.1\r\nHost: x\r\n",
        "PUT /signup/email HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{",
    ])
    func `a request that takes too long to arrive ends the connection`(part: String) async throws {
        var limits = ConnectionLimits.lavish
        limits.firstHeader = .milliseconds(100)
        limits.body = .milliseconds(100)
        let response = try await exchange(part, within: limits)
        #expect(response.isEmpty || response.hasPrefix("HTTP/1.1 400"))
    }

    @Test func `a connection is closed if no request follows a body that ends after its response`() async throws {
        var limits = ConnectionLimits.lavish
        limits.nextHeader = .milliseconds(100)
        try await TestServer.with(.socket, connections: limits) { site in
            let port = try #require(site.client.port)
            let (response, rest) = try await onThread {
                let client = try RawClient(port: port)
                try client.send(
                    "POST /signup HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 4\r\n\r\n<a"
                )
                let response = client.readResponse()
                try client.send("/>")
                return (response, client.readAll())
            }
            #expect(response.hasPrefix("HTTP/1.1 415") && rest.isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `the connections of a client are limited, but not those of a trusted proxy`(isTrusted: Bool) async throws {
        var limits = ConnectionLimits.lavish
        // The test client of the server holds one of the three connections.
        limits.connectionsOfClient = 3
        let proxies = try isTrusted ? [#require(IPBlock("127.0.0.1"))] : []
        try await TestServer.with(.socket, trustedProxies: proxies, connections: limits) { site in
            let port = try #require(site.client.port)
            // After a first request, the connection of the test client is kept alive for the next one.
            _ = try await site.send(.get, "/health/live")
            let (held, third, last) = try await onThread {
                let request = "GET /health/live HTTP/1.1\r\nHost: x\r\n"
                let clients = try (0..<2).map { _ in try RawClient(port: port) }
                for client in clients { try client.send("\(request)\r\n") }
                let held = clients.map { $0.readResponse() }
                func exchange() throws -> String {
                    let client = try RawClient(port: port)
                    // The server may close the connection while the client sends.
                    try? client.send("\(request)Connection: close\r\n\r\n")
                    return client.readAll()
                }
                let third = try exchange()
                for client in clients { client.finish() }
                // The server may take a moment to notice that both clients have closed their connections.
                var last = ""
                while last.isEmpty { last = try exchange() }
                return (held, third, last)
            }
            #expect(held.allSatisfy { $0.hasPrefix("HTTP/1.1 200") })
            #expect(isTrusted ? third.hasPrefix("HTTP/1.1 200") : third.isEmpty)
            #expect(last.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test(arguments: [
        "GET /health/live HTTP/1.1\r\n\r\n", "GET http://x/health/live HTTP/1.1\r\n\r\n",
        "GET /health/live HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
        "GET /health/live HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n", "GET /health/live HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET /health/live HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n",
        "POST /signup HTTP/1.1\r\nHost: x/y\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    ])
    func `a request without exactly one valid Host is refused, and the connection is closed`(request: String)
        async throws
    {
        try await TestServer.with(.socket) { site in
            let port = try #require(site.client.port)
            let (response, isClosed) = try await onThread {
                let client = try RawClient(port: port)
                // The server does not read the second request.
                let response = try client.exchange("\(request)GET /health/live HTTP/1.1\r\n\(Self.end)")
                return (response, client.isClosedByServer())
            }
            #expect(response.hasPrefix("HTTP/1.1 400 ") && response.lowercased().contains("\r\nconnection: close\r\n"))
            #expect(response.contains("/problems/malformed-request") && response.contains("Host is missing"))
            #expect(response.ranges(of: "HTTP/1.1 ").count == 1 && isClosed)
            let drafts = try DatabaseSession().query("SELECT count(*) FROM drafts")
            #expect(try drafts.only.decode(Int.self) == 0)
        }
    }

    @Test func `a header that takes too long to compare is refused`() async throws {
        func request(_ query: String, _ accept: String) -> String {
            "GET /health/live?\(query) HTTP/1.1\r\nHost: x\r\nAccept: t\(accept)\r\nConnection: close\r\n\r\n"
        }
        let marks = { String(repeating: "\u{344}\u{316}", count: $0) }
        let escaped = { String(repeating: "%CD%84%CC%96", count: $0) }
        for refused in [
            request("", marks(16)), request("a=%FF&locale=e\(escaped(16))", ""), request("a=%FF\(escaped(16))", ""),
        ] {
            let response = try await exchange(refused)
            #expect(response.hasPrefix("HTTP/1.1 400 ") && response.contains("more than 30 combining marks"))
        }
        for served in [request("", marks(15)), request("a=%FF&locale=e\(escaped(15))", "")] {
            let response = try await exchange(served)
            #expect(response.hasPrefix("HTTP/1.1 200 "), "\(response)")
        }
    }

    @Test func `a HEAD request without Host gets a response without a body`() async throws {
        let response = try await exchange("HEAD /health/live HTTP/1.1\r\n\r\n")
        #expect(response.hasPrefix("HTTP/1.1 400 ") && response.hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: [
        "GET http://other.example/health/live HTTP/1.1\r\nHost: x\r\n", "GET /health/live HTTP/1.1\r\nHost:\r\n",
        "GET /health/live HTTP/1.1\r\nHost: [::1]:8080\r\n", "GET /health/live HTTP/1.0\r\n",
    ])
    func `a request with an absolute URL, with an empty Host or without Host in HTTP/1.0 is served`(request: String)
        async throws
    {
        let response = try await exchange("\(request)Connection: close\r\n\r\n")
        #expect(response.hasPrefix("HTTP/1.1 200 ") && response.hasSuffix(#"{"status":"live"}"#))
    }

    @Test(arguments: [
        "HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", "HTTP/1.1\r\nHost: x\r\nConnection: TE, Close\r\n",
        "HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n", "HTTP/1.0\r\n",
        "HTTP/1.0\r\nHost: x\r\nConnection: close\r\n",
    ])
    func `after its last request a connection is closed, and later requests have no response`(request: String)
        async throws
    {
        try await TestServer.with(.socket) { site in
            let port = try #require(site.client.port)
            for method in ["GET", "HEAD"] {
                let (response, isClosed) = try await onThread {
                    let client = try RawClient(port: port)
                    let first = "GET /signup HTTP/1.1\r\nHost: x\r\n\r\n"
                    let last = "\(method) /health/live \(request)\r\n"
                    return (try client.exchange(first + last + first), client.isClosedByServer())
                }
                let statuses = response.matches(of: /HTTP\/1\.1 ([0-9]{3})/).map { String($0.1) }
                #expect(statuses == ["401", "200"] && isClosed)
                #expect(response.lowercased().ranges(of: "\r\nconnection: close\r\n").count == 1)
                #expect(response.hasSuffix(method == "HEAD" ? "\r\n\r\n" : #"{"status":"live"}"#))
            }
        }
    }

    @Test(arguments: [("h2c", [1, 2, 2]), (nil, [1, 2, 3])])
    func `the connection is not read between the end of a request with Upgrade and its answer`(
        upgrade: String?,
        reads: [Int]
    )
        throws
    {
        final class ReadCounter: ChannelOutboundHandler {
            typealias OutboundIn = Never
            var count = 0

            func read(context: ChannelHandlerContext) {
                count += 1
                context.read()
            }
        }
        let counter = ReadCounter()
        let connection = ConnectionGuard(
            limits: ConnectionLimits(),
            clients: ClientConnections(maximum: 1, behind: Proxies(trusted: [])),
            shutdown: ShutdownSignal()
        ) { _ in (HTTPResponseHead(version: .http1_1, status: .badRequest), ByteBuffer()) }
        let channel = EmbeddedChannel(handlers: [counter, connection])
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/signup", headers: ["Host": "x"])
        if let upgrade { head.headers.add(name: "Upgrade", value: upgrade) }
        var counts: [Int] = []
        channel.read()
        counts.append(counter.count)
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        channel.read()
        counts.append(counter.count)
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        channel.read()
        counts.append(counter.count)
        #expect(counts == reads)
    }

    @Test func `HTTP/1.0 with keep-alive and HTTP/1.1 keep the connection`() async throws {
        try await TestServer.with(.socket) { site in
            let port = try #require(site.client.port)
            let responses = try await onThread {
                let client = try RawClient(port: port)
                return try [
                    "HTTP/1.0\r\nConnection: Keep-Alive\r\n", "HTTP/1.1\r\nHost: x\r\n",
                    "HTTP/1.0\r\nConnection: keep-alive\r\n",
                ].map {
                    try client.send("GET /health/live \($0)\r\n")
                    return client.readResponse()
                }
            }
            #expect(
                responses.allSatisfy { $0.hasPrefix("HTTP/1.1 200 ") && !$0.lowercased().contains("\r\nconnection:") }
            )
        }
    }

    @Test func `the rest of a body is read after an early response`() async throws {
        try await TestServer.with(.socket) { site in
            let port = try #require(site.client.port)
            let count = 16 << 20
            for request in ["HTTP/1.0\r\n", "HTTP/1.1\r\n", "HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"] {
                let (response, rest) = try await onThread {
                    let client = try RawClient(port: port)
                    try client.send(
                        "POST /signup \(request)Content-Type: application/json\r\nContent-Length: \(count)\r\n\r\n"
                    )
                    let response = client.readResponse()
                    // This is more than the buffers of the operating system hold, so the server must read it.
                    try client.send(String(repeating: "x", count: count))
                    return (response, client.readAll())
                }
                #expect(
                    response.hasPrefix(request == "HTTP/1.1\r\n" ? "HTTP/1.1 400 " : "HTTP/1.1 413 ") && rest.isEmpty
                )
            }
        }
    }

    @Test func `a client that does not read an answer within a minute is disconnected`() throws {
        let channel = EmbeddedChannel(
            handler: ConnectionGuard(
                limits: ConnectionLimits(),
                clients: ClientConnections(maximum: 1, behind: Proxies(trusted: [])),
                shutdown: ShutdownSignal()
            ) { _ in (HTTPResponseHead(version: .http1_1, status: .badRequest), ByteBuffer()) }
        )
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        for _ in 1...2 {
            let request = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/openapi.json", headers: ["Host": "x"])
            try channel.writeInbound(HTTPServerRequestPart.head(request))
            try channel.writeInbound(HTTPServerRequestPart.end(nil))
        }
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive, "the server still works on the requests")
        let answer = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["X-Request-Id": "1"])
        try channel.writeOutbound(HTTPServerResponsePart.head(answer))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        // The second answer waits, because the client has not read the first one.
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `an idle connection is closed`() async throws {
        var limits = ConnectionLimits.lavish
        limits.nextHeader = .milliseconds(100)
        let response = try await exchange("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n", within: limits)
        #expect(response.hasPrefix("HTTP/1.1 200") && response.hasSuffix(#"{"status":"live"}"#))
    }
}
