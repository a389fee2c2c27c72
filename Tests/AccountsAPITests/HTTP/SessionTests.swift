import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Tokens, cookies and origins", .freshDatabase)
struct SessionTests {
    @Test(arguments: [
        ("http://localhost:8080", "signup=", "HttpOnly; SameSite=Lax"),
        ("https://accounts.example", "__Host-signup=", "Secure; HttpOnly; SameSite=Lax"),
    ])
    func `the cookie has the strictest attributes that the public URL allows`(
        url: String,
        name: String,
        attributes: String
    )
        async throws
    {
        try await TestServer.with(publicURL: url) { site in
            let response = try await site.visitor().start()
            let cookie = try #require(response.headers[.setCookie])
            #expect(cookie.hasPrefix(name))
            #expect(cookie.hasSuffix("; " + attributes))
            // The cookie lives as long as the draft may live, so a sign-up continues after the browser was closed.
            let age = try #require(cookie.firstMatch(of: #/Max-Age=([0-9]+); /#).flatMap { Int($0.1) })
            #expect((604_700...604_800).contains(age))
            #expect(!response.body.contains(cookie.dropFirst(name.count).prefix(64)))
        }
    }

    @Test func `the cookie lives for a quarter of an hour after the commit, and a bearer token is in no cookie`()
        async throws
    {
        try await TestServer.with(publicURL: "https://accounts.example") { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            try await kim.fill()
            #expect(try await kim.commit().headers[.setCookie] == nil)

            let token = try #require(kim.tokenText)
            let cookie = "__Host-signup=\(token)"
            for headers: HTTPFields in [
                [.cookie: cookie],
                [
                    .cookie: cookie, .accept: "text/html", .secFetchSite: "same-origin",
                    .contentType: "application/x-www-form-urlencoded",
                ],
            ] {
                let response = try await site.send(.post, "/signup/commit", bytes: [], headers)
                #expect(
                    response.headers[values: .setCookie].last
                        == "\(cookie); Path=/; Max-Age=900; Secure; HttpOnly; SameSite=Lax"
                )
            }
        }
    }

    @Test func `a cancelled sign-up leaves nothing in the browser`() async throws {
        try await TestServer.with { site in
            for path in ["/signup", "/signup/cancel"] {
                let kim = site.visitor()
                try await kim.start()
                let response = try await kim.send(path == "/signup" ? .delete : .post, path)
                #expect(response.headers[.clearSiteData] == "\"cache\", \"storage\"")
                #expect(response.headers[.setCookie]?.contains("Max-Age=0") == true)
            }
        }
    }

    @Test func `two different tokens in a request are refused, and two equal ones are accepted`() async throws {
        try await TestServer.with { site in
            let (kim, lee) = (site.visitor(), site.visitor(.bearer))
            try await kim.start()
            try await lee.start()
            let both = try await kim.send(.get, "/signup", headers: [.authorization: "Bearer \(lee.tokenText!)"])
            #expect(both.status == 400)
            #expect(both.slug == "malformed-request")
            let same = try await kim.send(.get, "/signup", headers: [.authorization: "bearer \(kim.tokenText!)"])
            #expect(same.status == 200)
            let cookies = "signup=\(kim.tokenText!); signup=\(lee.tokenText!)"
            #expect(try await kim.send(.get, "/signup", headers: [.cookie: cookies]).status == 400)
        }
    }

    @Test func `an Authorization header with another scheme is not a bearer token`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            let foreign = try await kim.send(
                .post,
                "/signup",
                headers: [
                    .authorization: "Basic a2ltOmtpbQ==", .secFetchSite: "cross-site", .origin: "https://evil.example",
                ]
            )
            #expect(foreign.status == 403)
            try await kim.start()
            let read = try await kim.send(.get, "/signup", headers: [.authorization: "Basic a2ltOmtpbQ=="])
            #expect(read.status == 200)
        }
    }

    @Test func `a start never uses a token that the server did not issue`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            let planted = Token(for: ID<Draft>()).text
            kim.tokenText = planted
            let response = try await kim.start()
            #expect(response.status == 201)
            #expect(kim.tokenText != planted)
        }
    }

    @Test func `a token with the id of a draft and a wrong secret is refused`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            let real = try #require(kim.tokenText.flatMap { Token<Draft>($0) })
            kim.tokenText = Token(for: real.id).text
            #expect(try await kim.send(.get, "/signup").status == 401)
        }
    }

    @Test(
        arguments: [
            // Sec-Fetch-Site, Origin, Content-Type, has a cookie, has a bearer token, is accepted
            ("same-origin", nil, "application/json", true, false, true),
            ("none", nil, "application/json", true, false, true),
            ("cross-site", "https://evil.example", "application/json", true, false, false),
            ("same-site", "https://blog.site.example", "application/json", true, false, false),
            ("cross-site", "https://friend.example", "application/json", true, false, true),
            (nil, "https://site.example", "application/json", true, false, true),
            (nil, "https://evil.example", "application/json", true, false, false),
            (nil, "https://site.example:444", "application/json", true, false, false),
            (nil, "http://site.example", "application/json", true, false, false),
            (nil, "null", "application/json", true, false, false),
            (nil, nil, "application/json", true, false, true),
            (nil, nil, "application/x-www-form-urlencoded", true, false, false),
            (nil, nil, "multipart/form-data; boundary=x", true, false, false),
            (nil, nil, "text/plain", true, false, false),
            ("cross-site", "https://evil.example", "application/json", false, true, true),
            ("cross-site", "https://evil.example", "application/json", true, true, false),
            ("cross-site", "https://evil.example", "application/json", false, false, false),
            ("anything", nil, "application/json", true, false, false),
        ] as [(String?, String?, String, Bool, Bool, Bool)]
    )
    func `the origin check refuses requests of other sites`(
        site: String?,
        origin: String?,
        type: String,
        hasCookie: Bool,
        hasBearer: Bool,
        passes: Bool
    ) {
        var headers: HTTPFields = [.contentType: type]
        headers[.secFetchSite] = site
        headers[.origin] = origin
        let check = OriginCheck(publicOrigin: "https://site.example", allowedOrigins: ["https://friend.example"])
        #expect(check.permits(headers, .init(hasCookie: hasCookie, hasBearer: hasBearer)) == passes)
    }

    @Test func `PUBLIC_URL may have capital letters and the default port, which browsers do not write`() async throws {
        try await TestServer.with(publicURL: "https://Site.Example:443") { site in
            let headers: HTTPFields = [
                .origin: "https://site.example", .contentType: "application/x-www-form-urlencoded",
            ]
            let response = try await site.send(.post, "/signup", bytes: [], headers)
            #expect(response.status == 201)
        }
    }

    @Test func `a request of another site is refused and changes nothing`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            let response = try await kim.put(
                "email",
                ["email": "kim@example.com"],
                headers: [.secFetchSite: "cross-site", .origin: "https://evil.example"]
            )
            #expect(response.status == 403)
            #expect(response.slug == "forbidden-origin")
            let read = try await kim.send(.get, "/signup", headers: [.secFetchSite: "cross-site"])
            #expect(read.status == 200)
            #expect(read.headers[.eTag] == "\"1\"")
        }
    }
}
