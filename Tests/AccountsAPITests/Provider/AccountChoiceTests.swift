import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("The account chooser", .freshDatabase)
struct AccountChoiceTests {
    @Test func `a person who signs in as somebody else goes back with that account`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            try await Browser(shop.site).signUp("lee@example.com", "lee")
            try DatabaseSession().letPass("5 minutes")
            let page = try await kim.send(.get, shop.url(["prompt": "select_account"]))
            let link = try #require(page.body.firstMatch(of: /href="(\/sign-in[^"]+)">Use another account</)?.1)
            let path = String(link).replacing("&amp;", with: "&")
            let signIn = try await kim.send(.get, path)
            #expect(
                signIn.status == 200 && signIn.body.contains("action=\"/sign-in\""),
                "also if somebody is signed in"
            )
            let target = try #require(signIn.body.firstMatch(of: /name="return_to" value="([^"]+)"/)?.1)
            let password: JSON = .string("a pass phrase of mine")
            let form: JSON = [
                "identifier": "lee@example.com", "password": password, "return_to": .string(String(target)),
            ]
            let next = try #require(try await kim.send(.post, "/sign-in", form).headers[.location])
            let redirect = try await RelyingParty.Redirect(kim.send(.get, next))
            let tokens = try await shop.redeem(#require(redirect.query["code"]))
            #expect(tokens.claims()["email"] == "lee@example.com")
        }
    }

    @Test func `the account chooser is in Korean`() async throws {
        try await RelyingParty.with { shop in
            let kim = PageVisitor(shop.site, language: "ko")
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            try DatabaseSession().letPass("5 minutes")
            let page = try await kim.open(shop.url(["prompt": "select_account"]))
            #expect(page.has("다른 계정으로 로그인") && page.has("에서 사용할 계정을 선택해 주세요.</p>"))
        }
    }

    @Test func `with prompt=select_account login the person chooses once, and enters the password once`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            try DatabaseSession().letPass("5 minutes")
            let page = try await kim.send(.get, shop.url(["prompt": "select_account login"]))
            let chosen = try #require(RelyingParty.choice(on: page))
            let confirm = try await RelyingParty.Redirect(kim.send(.get, chosen))
            #expect(confirm.address == "/account/confirm")
            let password: JSON = ["password": "a pass phrase of mine"]
            #expect(try await kim.send(.put, "/session/confirm", password).status == 200)
            let returnTo = try #require(confirm.query["return_to"])
            #expect(try await RelyingParty.Redirect(kim.send(.get, returnTo)).query["code"] != nil)
        }
    }

    @Test func `the link of the chooser is valid only in the session that it was made for`() async throws {
        try await RelyingParty.with { shop in
            let (kim, lee) = (Browser(shop.site), Browser(shop.site))
            try await kim.signUp()
            try await lee.signUp("lee@example.com", "lee")
            try DatabaseSession().letPass("5 minutes")
            let page = try await kim.send(.get, shop.url(["prompt": "select_account"]))
            let chosen = try #require(RelyingParty.choice(on: page))
            // A plain parameter must not count as a choice.
            for path in [chosen, "\(chosen)&chosen"] {
                #expect(try await lee.send(.get, path).body.contains("lee@example.com"), "the person is asked again")
            }
        }
    }
}
