import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The pages of a sign-up on two devices", .freshDatabase)
struct HandoffPageTests {
    @Test func `a person without script continues the sign-up on another device`() async throws {
        try await TestServer.with { site in
            let desk = PageVisitor(site)
            _ = try await desk.fill(through: "code")
            let mailed = try await desk.post("/signup/handoff")
            #expect(mailed.has("Check your email") && mailed.has("href=\"/signup\">Continue on this device</a>"))
            let phone = PageVisitor(site, language: "ko")
            let link = try await site.link()
            let code = site.code(in: link)
            #expect(try await phone.open("/signup/resume").has("이메일로 받은 코드"))
            let page = try await phone.post("/signup/resume", "code=\(code)")
            #expect(page.status == 200 && page.has("k•••@example.com") && page.has("여기에서 계속하기"))
            #expect(!page.has("완료하지 않은 다른 가입"))
            #expect(try await desk.open("/signup").status == 200, "the question changes nothing")
            let short = try await phone.post("/signup/resume", "code=short")
            #expect(short.status == 422 && short.has("name=\"code\"") && short.has("코드를 빠짐없이 입력해 주세요."))
            let attempt = try #require(page.html.firstMatch(of: /name="confirmed" value="([\w-]{24})"/)).1
            for _ in 1...2 {
                let moved = try await phone.post("/signup/resume", "code=\(code)&confirmed=\(attempt)")
                #expect(moved.path == "/signup/password", "the form can be sent again if its answer is lost")
            }
            let used = try await phone.post("/signup/resume", "code=\(code)&confirmed=yes")
            #expect(used.status == 422 && used.has("만료되었거나 이미 사용한"))
            let here = try await phone.post("/signup/resume", "code=\(code)")
            #expect(here.path == "/signup/password", "the sign-up goes on in this browser")
            let typo = try await PageVisitor(site).post("/signup/resume", "code=\(code)")
            #expect(typo.status == 422 && typo.has("name=\"code\"") && typo.has("href=\"/sign-in\""))
            let old = try await desk.open("/signup")
            #expect(
                old.status == 410
                    && old.has("continuing this sign-up in another browser or on another device")
            )
            #expect(old.has("class=\"news\" role=\"status\""))
        }
    }

    @Test func `a link of another sign-up replaces the one of this browser only after a warning`() async throws {
        try await TestServer.with { site in
            let stranger = PageVisitor(site)
            _ = try await stranger.fill(through: "password", email: "stranger@example.org")
            _ = try await stranger.post("/signup/handoff")
            let code = try await site.linkCode()
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "code")
            let page = try await kim.post("/signup/resume", "code=\(code)")
            #expect(page.has("s•••@example.org") && page.has("You have another unfinished sign-up in this browser"))
            #expect(page.has("<a class=\"button\" href=\"/signup\">Keep the other one</a>"))
            #expect(try await kim.open("/signup").path == "/signup/password", "nothing has changed")
            // The move has removed the stranger's password, so the next step is the password and not the profile.
            let moved = try await kim.post("/signup/resume", "code=\(code)&confirmed=yes")
            #expect(moved.path == "/signup/password")
        }
    }
}
