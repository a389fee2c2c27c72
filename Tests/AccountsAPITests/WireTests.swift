import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("On the wire", .freshDatabase, .timeLimit(.minutes(3)))
struct WireTests {
    private func ask(_ request: String, within limits: WireLimits = WireLimits()) async throws -> String {
        let answers = AsyncStream<String>.makeStream()
        try await Site.with(.socket, wire: limits) { site in
            let port = try #require(site.client.port)
            answers.continuation.yield(
                try await onThread {
                    let client = try RawClient(port: port)
                    try client.send(request)
                    return client.readAll()
                }
            )
        }
        return try #require(await answers.stream.first { _ in true })
    }

    private static let end = "Host: x\r\nConnection: close\r\n\r\n"

    @Test(arguments: [
        ("nonsense\r\n\r\n", "400 Bad Request", "malformed-request"),
        ("GET /signup HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n", "400 Bad Request", "malformed-request"),
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
    func `what the server refuses by itself looks like every refusal`(request: String, status: String, slug: String)
        async throws
    {
        let answer = try await ask(request)
        #expect(answer.hasPrefix("HTTP/1.1 \(status)"))
        let head = answer.prefix { $0 != "{" }.lowercased()
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
        let body = try JSON.read(Array(answer.suffix(from: try #require(answer.firstIndex(of: "{"))).utf8))
        #expect(body["type"]?.string?.hasSuffix("/problems/\(slug)") == true)
    }

    @Test func `a hundred header fields and eight thousand bytes of path are served`() async throws {
        let fields = String(repeating: "X: 1\r\n", count: 97)
        let answer = try await ask("GET /\(String(repeating: "a", count: 8000)) HTTP/1.1\r\n\(fields)\(Self.end)")
        #expect(answer.hasPrefix("HTTP/1.1 404"))
    }

    @Test(arguments: [
        "", "GET /health/live HTTP/1.1\r\nHost: x\r\n",
        "PUT /signup/email HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{",
    ])
    func `who takes too long to ask is hung up on`(part: String) async throws {
        var limits = WireLimits()
        limits.firstHeader = .milliseconds(100)
        limits.body = .milliseconds(100)
        let answer = try await ask(part, within: limits)
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400"))
    }

    @Test func `who ends a body after its answer, and asks nothing more, is hung up on`() async throws {
        var limits = WireLimits()
        limits.nextHeader = .milliseconds(100)
        try await Site.with(.socket, wire: limits) { site in
            let port = try #require(site.client.port)
            let (answer, rest) = try await onThread {
                let client = try RawClient(port: port)
                try client.send(
                    "POST /signup HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 4\r\n\r\n<a"
                )
                let answer = client.readAnswer()
                try client.send("/>")
                return (answer, client.readAll())
            }
            #expect(answer.hasPrefix("HTTP/1.1 415") && rest.isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `a client has so many connections at once, and a trusted proxy more`(isTrusted: Bool) async throws {
        var limits = WireLimits()
        // One of them is the site's own.
        limits.connectionsOfClient = 3
        let proxies = try isTrusted ? [#require(IPBlock("127.0.0.1"))] : []
        try await Site.with(.socket, trustedProxies: proxies, wire: limits) { site in
            let port = try #require(site.client.port)
            // Its own connection is kept for its next request, and not given up for having sent none.
            _ = try await site.send(.get, "/health/live", nil, [:])
            let (held, third, last) = try await onThread {
                let question = "GET /health/live HTTP/1.1\r\nHost: x\r\n"
                let clients = try (0..<2).map { _ in try RawClient(port: port) }
                for client in clients { try client.send("\(question)\r\n") }
                let held = clients.map { $0.readAnswer() }
                func ask() throws -> String {
                    let client = try RawClient(port: port)
                    // A client that is hung up on may notice while it sends.
                    try? client.send("\(question)Connection: close\r\n\r\n")
                    return client.readAll()
                }
                let third = try ask()
                for client in clients { client.finish() }
                // The server notices that they have gone, if not at once.
                var last = ""
                while last.isEmpty { last = try ask() }
                return (held, third, last)
            }
            #expect(held.allSatisfy { $0.hasPrefix("HTTP/1.1 200") })
            #expect(isTrusted ? third.hasPrefix("HTTP/1.1 200") : third.isEmpty)
            #expect(last.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `who asks nothing more is hung up on`() async throws {
        var limits = WireLimits()
        limits.nextHeader = .milliseconds(100)
        let answer = try await ask("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n", within: limits)
        #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("{\"status\":\"live\"}"))
    }
}

@Suite("Other sites", .freshDatabase, .timeLimit(.minutes(3)))
struct SharingTests {
    private static let friend = "https://app.example"

    @Test func `a site of the list may ask, and read what it hears`() async throws {
        try await Site.with(allowedOrigins: [Self.friend]) { site in
            let asks: HTTPFields = [.origin: Self.friend, .accessControlRequestMethod: "PUT"]
            let preflight = try await site.client.execute(uri: "/signup/email", method: .options, headers: asks) {
                Answer($0)
            }
            #expect(preflight.status == 204)
            #expect(preflight.headers[.accessControlAllowOrigin] == Self.friend)
            #expect(preflight.headers[.accessControlAllowMethods] == "GET, POST, PUT, DELETE")
            #expect(preflight.headers[.accessControlAllowHeaders]?.contains("content-type") == true)
            for answer in [
                try await site.visitor(headers: [.origin: Self.friend]).start(),
                try await site.visitor(headers: [.origin: Self.friend]).send(.get, "/signup"),
            ] {
                #expect(answer.headers[.accessControlAllowOrigin] == Self.friend)
                #expect(answer.headers[.accessControlAllowCredentials] == "true")
                #expect(answer.headers[.accessControlExposeHeaders]?.contains("ETag") == true)
                #expect(answer.headers[.vary] == "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site")
            }
        }
    }

    @Test(arguments: ["https://evil.example", "null", "https://app.example.evil.example", "http://app.example", "*"])
    func `no other site is reflected`(origin: String) async throws {
        try await Site.with(allowedOrigins: [Self.friend]) { site in
            let asks: HTTPFields = [.origin: origin, .accessControlRequestMethod: "PUT"]
            let preflight = try await site.client.execute(uri: "/signup/email", method: .options, headers: asks) {
                Answer($0)
            }
            #expect(preflight.status == 405 && preflight.headers[.accessControlAllowOrigin] == nil)
            let answer = try await site.visitor(headers: [.origin: origin]).send(.get, "/signup/schema")
            #expect(answer.status == 200 && answer.headers[.accessControlAllowOrigin] == nil)
            #expect(answer.headers[.vary] == "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site")
        }
    }

    @Test func `without a list nothing is said about origins`() async throws {
        try await Site.with { site in
            let answer = try await site.visitor(headers: [.origin: Self.friend]).send(.get, "/signup/schema")
            #expect(
                answer.headers[.accessControlAllowOrigin] == nil
                    && answer.headers[.vary] == "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site"
            )
        }
    }

    @Test func `TLS is insisted on where the service has it`() async throws {
        for (url, isStrict) in [("https://signup.example", true), ("http://localhost:8080", false)] {
            try await Site.with(publicURL: url) { site in
                let answer = try await site.visitor().send(.get, "/signup/schema")
                let strict = answer.headers[.strictTransportSecurity]
                #expect(strict == (isStrict ? "max-age=63072000; includeSubDomains" : nil))
            }
        }
    }
}
