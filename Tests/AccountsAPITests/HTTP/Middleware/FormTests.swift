import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Forms", .freshDatabase, .timeLimit(.minutes(30)))
struct FormTests {
    private static let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]

    @Test(arguments: Visitor.Transport.allCases)
    func `a sign-up with forms creates an account`(transport: Visitor.Transport) async throws {
        try await TestServer.with { site in
            let own: HTTPFields = [.origin: "http://localhost:8080"]
            let kim = site.visitor(transport, headers: own)
            @Sendable func post(_ step: String, _ body: String) async throws -> Response {
                let response = try await kim.send(.post, "/signup/\(step)", body, headers: Self.form)
                #expect(response.status == 200)
                return response
            }
            let started = try await kim.send(.post, "/signup", "transport=\(transport)&locale=ko", headers: Self.form)
            #expect(started.status == 201)
            kim.keepToken(of: started)
            _ = try await post("email", "email=Kim%40Example.com")
            _ = try await post("code", "code=\(site.service.readCode(for: "kim@example.com"))")
            _ = try await post("password", "password=a+pass+phrase+of+mine&confirmation=a+pass%20phrase+of+mine")
            _ = try await post("profile", "username=kim&display_name=%EA%B9%80&introduction=")
            _ = try await post("contact", "phone=010-1234-5678&birth_date=2001-02-28")
            let ready = try await post("terms", "terms=on")
            #expect(ready.json["state"] == "ready" && ready.json["values"]?["display_name"] == "김")

            let account = try await kim.commit().json["account"]
            #expect(account?["email"] == "kim@example.com" && account?["phone"] == "+821012345678")
            #expect(try DatabaseSession().query("SELECT locale FROM accounts").only.decode(String.self) == "ko")
        }
    }

    @Test(arguments: [
        ("email=a%40b.example&email=c%40d.example", 400), ("email=%00", 400), ("email=%FF", 400), ("email", 400),
        ("email=%4", 400), ("", 422), ("email=", 422), ("email=kim", 422), ("mail=kim", 422),
        ("email=kim%40example.com&x=1", 422),
    ])
    func `forms follow the same rules as JSON`(body: String, status: Int) async throws {
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            let response = try await kim.send(.post, "/signup/email", body, headers: Self.form)
            #expect(response.status == status)
            #expect(try await kim.send(.get, "/signup").json["revision"] == 1)
        }
    }

    @Test func `a form of more than 64 KiB is too large`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            let body = "email=" + String(repeating: "a", count: 65_536)
            #expect(try await kim.send(.post, "/signup/email", body, headers: Self.form).slug == "too-large")
        }
    }

    @Test func `a form with a cookie and without an origin is refused`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            #expect(
                try await kim.send(.post, "/signup/email", "email=kim%40example.com", headers: Self.form).slug
                    == "forbidden-origin"
            )
        }
    }
}
