import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Refusals in the log", .freshDatabase)
struct SecurityLogTests {
    /// The log lines of requests with this status.
    private static func lines(_ status: Int, of site: TestServer) -> [JSON] {
        site.log.lines.filter { $0["message"] == "request" && $0["status"] == .integer(status) }
    }

    /// The level, event, problem, limit and step of each log line that has the member `event`.
    private static func events(of site: TestServer) -> [[String?]] {
        site.log.lines.filter { $0["event"] != nil }.map { line in
            ["level", "event", "problem", "limit", "step"].map { line[$0]?.string }
        }
    }

    private static let oneStart = Limits(byName: [.starts: Limit(1, per: .seconds(600))], revisions: 600)

    @Test func `a rate limit leaves one line with its name, the request and the network`() async throws {
        try await TestServer.with(limits: Self.oneStart) { site in
            try await site.visitor().start()
            let response = try await site.visitor().start()
            #expect(response.status == 429)
            #expect(Self.events(of: site) == [["notice", "refused", "rate-limited", "starts", nil]])
            let line = try #require(Self.lines(429, of: site).first)
            #expect(line["request_id"]?.string == response.headers[.requestID])
            #expect(line["route"] == "/signup" && line["method"] == "POST")
            #expect(line["network"]?.string == site.service.signups.pseudonym(of: .unknown))
            #expect(line["site"] == line["network"])
        }
    }

    @Test func `at the level debug, a line says what a request has cost, and nothing typed`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            _ = try await kim.put("email", ["email": "kim@nightingale.example"])
            let response = try await kim.put("email", ["email": "nightingale"])
            #expect(response.status == 422)
            let lines = site.log.lines.filter { $0["message"] == "work of the request" }
            #expect(lines.count == 3 && lines.allSatisfy { $0["level"] == "debug" })
            let (sent, refused) = (lines[1], lines[2])
            #expect(sent["route"] == "/signup/{step}" && sent["step"] == "email" && sent["problem"] == nil)
            guard case .integer(let roundTrips)? = sent["round_trips"], case .number(let time)? = sent["database_ms"]
            else {
                Issue.record("no numbers: \(sent)")
                return
            }
            #expect(roundTrips >= 2 && time > 0 && sent["hash_ms"] == nil)
            #expect(sent["limits"]?.string?.split(separator: " ").contains("mails_to_address") == true, "\(sent)")
            #expect(refused["problem"] == "validation-failed", "\(refused)")
            #expect(refused["request_id"]?.string == response.headers[.requestID])
            let code = try await site.service.readCode(for: "kim@nightingale.example")
            _ = try await kim.put("code", ["code": .string(code)])
            let phrase: JSON = "a pass phrase of mine"
            _ = try await kim.put("password", ["password": phrase, "confirmation": phrase])
            let hashed = try #require(site.log.lines.last { $0["message"] == "work of the request" })
            #expect(hashed["step"] == "password" && hashed["hashes"] == 1, "\(hashed)")
            guard case .number(let hashTime)? = hashed["hash_ms"] else { throw SignupFailure() }
            #expect(hashTime > 0)
            for typed in ["nightingale", "pass phrase"] { #expect(!site.log.text.contains(typed)) }
        }
    }

    private struct SignupFailure: Error {}

    @Test func `a request from another site leaves one line`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            let response = try await kim.put(
                "email",
                ["email": "kim@example.com"],
                headers: [.secFetchSite: "cross-site", .origin: "https://evil.example"]
            )
            #expect(response.status == 403)
            #expect(Self.events(of: site) == [["notice", "refused", "forbidden-origin", nil, nil]])
        }
    }

    @Test func `a request that is refused because the server is busy leaves one line`() async throws {
        let none = try HashingPool(
            parameters: Argon2Parameters(memoryKiB: 7168, iterations: 5),
            workers: 0,
            queue: 0
        )
        defer { none.shutdown() }
        try await TestServer.with(hashing: none) { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "code")
            let password: JSON = ["password": "a pass phrase of mine", "confirmation": "a pass phrase of mine"]
            #expect(try await kim.put("password", password).status == 503)
            #expect(Self.events(of: site) == [["notice", "refused", "busy", nil, "password"]])
            let line = try #require(Self.lines(503, of: site).first)
            #expect(line["draft"] != nil)
        }
    }

    @Test func `each wrong code leaves one line, and so does each code that is exhausted`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "email")
            let code = try await site.service.readCode(for: "kim@example.com")
            let wrong = code == "313131" ? "323232" : "313131"
            var codes: [String] = []
            for _ in 0..<6 {
                codes += try await kim.put("code", ["code": .string(wrong)]).refusals
            }
            #expect(codes.last == "code:code_exhausted" && codes.first == "code:code_wrong")
            let expected = codes.map { refusal in
                ["notice", String(refusal.dropFirst("code:".count)), "validation-failed", nil, "code"] as [String?]
            }
            #expect(Self.events(of: site) == expected)
            #expect(!site.log.text.contains(wrong) && !site.log.text.contains("kim@example.com"))
        }
    }

    @Test func `a wrong code on a page leaves the same line`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.post("/signup", "")
            _ = try await kim.post("/signup/email", "email=kim%40example.com")
            let code = try await site.service.readCode(for: "kim@example.com")
            let page = try await kim.post("/signup/code", "code=\(code == "313131" ? "323232" : "313131")")
            #expect(page.status == 422)
            #expect(Self.events(of: site) == [["notice", "code_wrong", "validation-failed", nil, "code"]])
        }
    }

    @Test func `a rate limit on a page of the account leaves the same line`() async throws {
        let limits = Limits(byName: [.usernameChecks: Limit(1, per: .seconds(3600))], revisions: 600)
        try await TestServer.with(limits: limits) { site in
            try await Browser(site).signUp()
            let kim = PageVisitor(site)
            _ = try await kim.post("/sign-in", "identifier=kim&password=a+pass+phrase+of+mine")
            for name in ["kim2", "kim3"] { _ = try await kim.post("/account/profile", "username=\(name)") }
            #expect(
                Self.events(of: site).map { $0.prefix(4) } == [
                    ["notice", "refused", "rate-limited", "username_checks"]
                ]
            )
        }
    }

    @Test func `no other request has the network in its line`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.put("email", ["email": "kim"])
            try await kim.fill()
            _ = try await kim.send(.get, "/signup/nothing")
            _ = try await kim.send(.get, "/nothing")
            #expect(try await kim.commit().status == 201)
            let requests = site.log.lines.filter { $0["message"] == "request" }
            #expect(requests.count > 8 && requests.allSatisfy { $0["level"] == "info" })
            for member in ["network", "site", "event", "limit"] {
                #expect(requests.allSatisfy { $0[member] == nil })
            }
        }
    }

    @Test func `the line of a refused request names the problem and the step, and that of another none`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.put("email", ["email": "kim"])
            try await kim.put("email", ["email": "kim@example.com"])
            _ = try await PageVisitor(site).post("/sign-in", "identifier=kim")
            _ = try await PageVisitor(site).post("/signup/resume", "code=short")
            let lines = site.log.lines.filter { $0["message"] == "request" && $0["route"] != "/signup" }
            #expect(
                lines.map { [$0["status"], $0["problem"], $0["step"]] } == [
                    [422, "validation-failed", "email"], [200, nil, nil], [422, "validation-failed", nil],
                    [422, "validation-failed", nil],
                ]
            )
            #expect(!site.log.text.contains("kim"), "what was typed")
        }
    }

    @Test func `the line of an unknown path has its first segment if it is that of a route, and no other part`()
        async throws
    {
        try await TestServer.with { site in
            let kim = site.visitor()
            let paths = ["/account/canary/a/b/c", "/assets/canary/page.css", "/canary/signup", "/signup/canary"]
            for path in paths {
                let response = try await kim.send(.get, path)
                #expect(response.status == 404)
            }
            #expect(
                Self.lines(404, of: site).map { [$0["route"]?.string, $0["path"]?.string] } == [
                    ["NotFound", "/account/…"], ["NotFound", "/assets/…"], ["NotFound", "unknown"],
                    ["/signup/{step}", nil],
                ]
            )
            #expect(!site.log.text.contains("canary"), "a path may contain a secret")
        }
    }

    @Test func `health checks are in the log only if they fail, or at the level debug`() async throws {
        try await TestServer.with { site in
            _ = try await site.send(.get, "/health/ready")
            _ = try await site.send(.get, "/health/live")
            let levels = site.log.lines.filter { $0["message"] == "request" }.map { $0["level"] }
            #expect(levels == ["debug", "debug"])
        }
    }

    @Test func `clients of one network have one pseudonym, and no address is in the log`() async throws {
        let proxies = ["127.0.0.0/8"].compactMap { IPBlock($0) }
        try await TestServer.with(.socket, limits: Self.oneStart, trustedProxies: proxies) { site in
            let clients = ["2001:db8:77:1::1", "2001:db8:77:1::2", "2001:db8:77:2::1", "2001:db8:78:1::1"]
            for client in clients {
                for _ in 0..<2 { try await site.visitor(headers: [.forwardedFor: client]).start() }
            }
            let names = Self.lines(429, of: site).compactMap { $0["network"]?.string }
            // Each network may start once. The first two clients share a network, so both starts of the second client
            // are refused.
            #expect(names.count == 5)
            #expect(Set(names.prefix(3)).count == 1 && Set(names).count == 3)
            let sites = Self.lines(429, of: site).compactMap { $0["site"]?.string }
            #expect(sites.count == 5 && Set(sites.prefix(4)).count == 1, "one /48")
            #expect(Set(sites).count == 2 && Set(sites).isDisjoint(with: names))
            let network = Network(try #require(IPAddress(clients[0])))
            #expect(names.first == site.service.signups.pseudonym(of: network))
            #expect(!site.log.text.contains("2001:db8"))
        }
    }
}
