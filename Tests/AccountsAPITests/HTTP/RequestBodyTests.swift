import Accounts
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

@testable import accounts_api

@Suite("Refused bodies of requests", .freshDatabase)
struct RequestBodyTests {
    @Test(arguments: [
        ("", "empty"), ("{", "cut off"), ("null", "no object"), ("[]", "no object"),
        (#"{"email":"a@b.example",}"#, "comma"),
        (#"{"email":"a@b.example","email":"c@d.example"}"#, "duplicate name"),
        (#"{"email":"a@b.example\u0000"}"#, "NUL"), (#"{"email":"\ud800"}"#, "lone surrogate"),
        (#"{"email":\#(String(repeating: "[", count: 33))\#(String(repeating: "]", count: 33))}"#, "depth"),
        ("\u{FEFF}{}", "byte order mark"), ("{} {}", "unexpected bytes after the value"),
        (#"{"email":[\#(String(repeating: "1,", count: 1000))1]}"#, "too many values"),
    ])
    func `a malformed body is refused and changes nothing`(body: String, why: String) async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            let response = try await kim.put("email", body)
            #expect(response.status == 400, "\(why)")
            #expect(response.slug == "malformed-request")
            #expect(response.headers[.contentType] == "application/problem+json")
            #expect(try await kim.send(.get, "/signup").headers[.eTag] == "\"1\"")
        }
    }

    @Test func `a body that is not UTF-8 is refused`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            let bodies: [[UInt8]] = [
                Array(#"{"email":""#.utf8) + [0xFF, 0xC0, 0x80] + Array(#""}"#.utf8),
                [0xFF, 0xFE] + "{}".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
            ]
            for body in bodies {
                let response = try await site.client.execute(
                    uri: "/signup/email",
                    method: .put,
                    headers: [.authorization: "Bearer \(kim.tokenText!)", .contentType: "application/json"],
                    body: ByteBuffer(bytes: body)
                ) { Response($0) }
                #expect(response.status == 400)
                #expect(response.slug == "malformed-request")
            }
        }
    }

    @Test(arguments: TestServer.Mode.allCases)
    func `a body of 64 KiB is read, and a longer one is refused`(mode: TestServer.Mode) async throws {
        try await TestServer.with(mode) { site in
            let kim = site.visitor()
            try await kim.start()
            let frame = #"{"email":""}"#.utf8.count
            let fits = #"{"email":"\#(String(repeating: "a", count: 65_536 - frame))"}"#
            #expect(try await kim.put("email", fits).status == 422)
            let tooLong = #"{"email":"\#(String(repeating: "a", count: 65_537 - frame))"}"#
            let response = try await kim.put("email", tooLong)
            #expect(response.status == 413)
            #expect(response.slug == "too-large")
        }
    }

    @Test(arguments: [
        ("text/plain", 415), ("application/x-www-form-urlencoded; charset=latin-1", 415),
        ("multipart/form-data; boundary=x", 415), ("application/json; charset=utf-16", 415),
        ("application/json; charset=UTF-8", 200), ("APPLICATION/JSON", 200), ("application/jsonp", 415),
        ("", 415), (";", 415), ("; charset=utf-8", 415),
    ])
    func `a body with an unsupported media type or charset is refused`(type: String, status: Int) async throws {
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            let response = try await kim.put("email", ["email": "a@b.example"], headers: [.contentType: type])
            #expect(response.status == status)
            if status == 415 { #expect(response.slug == "unsupported-media-type") }
        }
    }

    @Test(arguments: [
        ("gzip", 415), ("GZIP", 415), ("br", 415), ("identity, gzip", 415), ("identity", 200), ("Identity", 200),
        ("", 200),
    ])
    func `a body with a content coding is refused before it is read`(coding: String, status: Int) async throws {
        try await TestServer.with(.socket) { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            let form = "application/x-www-form-urlencoded"
            for (type, body) in [("application/json", #"{"email":"a@b.example"}"#), (form, "email=a%40b.example")] {
                let headers: HTTPFields = [.contentType: type, .contentEncoding: coding]
                let response = try await kim.send(.post, "/signup/email", body, headers: headers)
                #expect(response.status == status)
                #expect(response.headers[.acceptEncoding] == (status == 415 ? "identity" : nil))
                if status == 415 { #expect(response.slug == "unsupported-media-type") }
            }
            let isStored = try await kim.send(.get, "/signup").json["values"]?["email"] != nil
            #expect(isStored == (status == 200))
            let start = try await site.visitor().send(.post, "/signup", "{}", headers: [.contentEncoding: coding])
            #expect(start.status == (status == 415 ? 415 : 201))
        }
    }

    @Test func `a body with a content coding is refused without waiting for it`() async throws {
        try await TestServer.with(.socket) { site in
            let port = try #require(site.client.port)
            let response = try await onThread {
                let client = try RawClient(port: port)
                try client.send(
                    """
                    POST /signup HTTP/1.1\r
                    Host: x\r
                    Content-Type: application/json\r
                    Content-Encoding: gzip\r
                    Content-Length: 100\r
                    \r

                    """
                )
                return client.readResponse()
            }
            #expect(response.hasPrefix("HTTP/1.1 415 ") && response.contains("/problems/unsupported-media-type"))
            #expect(response.lowercased().contains("\r\naccept-encoding: identity\r\n"))
        }
    }
}
