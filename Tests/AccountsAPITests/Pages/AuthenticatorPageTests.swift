import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("The page of the authenticator", .freshDatabase)
struct AuthenticatorPageTests {
    @Test func `a skipped authenticator can be set up later`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            let page = try await kim.open("/signup/totp")
            #expect(page.has("<button class=\"main\">Next</button>") && page.has("Skip for now"))
        }
    }

    @Test func `the page of the authenticator explains it before the picture, and says that it is optional`()
        async throws
    {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let page = try await kim.fill(through: "contact")
            #expect(page.has("Setting up an app is optional. You can also do it later."))
            #expect(page.has("<div class=\"qr\" role=\"img\" aria-label=\"QR code for your authenticator app\">"))
            #expect(
                page.html.firstMatch(of: /id="field-totp-help".*<svg.*id="field-totp-key"/.dotMatchesNewlines()) != nil
            )
        }
    }

    @Test func `recovery codes are shown until the person has saved them`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let page = try await kim.fill(through: "contact")
            let secret = try #require(page.html.firstMatch(of: /secret=([A-Z2-7]+)/)).1
            let time = try Date(#require(page.html.firstMatch(of: /data-now="([^"]+)"/)).1, strategy: .iso8601)
            let code = TOTP.code(String(secret).base32Bytes, step: TOTP.timeStep(at: time))
            let codes = try await kim.post("/signup/totp", "totp=\(code)")
            #expect(codes.path == "/signup/totp" && codes.has("<h1>Recovery codes</h1>"))
            #expect(codes.has("class=\"languages\""), "the codes are still there after a switch")
            #expect(codes.has("action=\"/signup/totp/saved\"") && codes.has("data-account=\"kim@example.com\""))
            let shown = codes.html.matches(of: /<li><code>([^<]+)/).map { $0.1 }
            #expect(shown.count == 10)
            let repeated = try await kim.post("/signup/totp", "totp=\(code)")
            let pages = [
                repeated, try await kim.open("/signup/totp"), try await kim.open("/signup"),
                try await kim.open("/signup/review"), try await kim.post("/signup/commit"),
            ]
            for page in pages {
                #expect(page.path == "/signup/totp")
                #expect(page.html.matches(of: /<li><code>([^<]+)/).map { $0.1 } == shown)
            }
            #expect(try await kim.post("/signup/totp/saved").path == "/signup/terms")
            #expect(try await kim.post("/signup/totp/saved").path == "/signup/terms", "the form can be sent again")
            let done = try await kim.open("/signup/totp")
            #expect(done.has("Authenticator app is on") && !done.has("Skip for now"))
            #expect(!done.has(String(shown[0])))
            let address = try await kim.open("/signup/email")
            #expect(address.has("set this up again: <strong>Authenticator app</strong></p>"))
        }
    }

    @Test func `a program gets the recovery codes only once, also while a page shows them`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "contact")
            let code = kim.code(of: try await kim.send(.get, "/signup/totp"))
            let enrolled = try await kim.put("totp", ["totp": .string(code)])
            let codes = enrolled.strings("recovery_codes")
            #expect(codes.count == 10)
            for path in ["/signup", "/signup/totp", "/signup/review"] {
                let body = try await kim.send(.get, path).body
                #expect(!codes.contains { body.contains($0) }, "\(path)")
            }
        }
    }

    @Test func `a finished authenticator is set up again or removed`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            var page = try await kim.fill(through: "contact")
            for (form, next) in [("", "/signup/totp"), ("skip=yes", "/signup/terms")] {
                let secret = try #require(page.html.firstMatch(of: /secret=([A-Z2-7]+)/)).1
                let time = try Date(#require(page.html.firstMatch(of: /data-now="([^"]+)"/)).1, strategy: .iso8601)
                let code = TOTP.code(String(secret).base32Bytes, step: TOTP.timeStep(at: time))
                _ = try await kim.post("/signup/totp", "totp=\(code)")
                _ = try await kim.post("/signup/totp/saved")
                let done = try await kim.open("/signup/totp")
                #expect(done.has("its recovery codes will stop working") && done.has("action=\"/signup/totp/remove\""))
                page = try await kim.post("/signup/totp/remove", form)
                #expect(page.path == next)
            }
            #expect(try await kim.open("/signup/totp").has("<svg"))
        }
    }
}
