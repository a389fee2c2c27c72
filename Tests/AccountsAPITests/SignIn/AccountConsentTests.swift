import Accounts
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import accounts_api

@Suite("The consents of an account", .freshDatabase)
struct AccountConsentTests {
    /// The rows of `consents` or `past_consents`, such as `marketing: accepted 2026-11`.
    private func rows(of table: String) throws -> [String] {
        try DatabaseSession().query(
            SQL(
                stringLiteral: """
                    SELECT field || ': ' || CASE WHEN accepted THEN 'accepted ' ELSE 'declined ' END || version
                      FROM \(table) ORDER BY field, given_at
                    """
            )
        ).map { try $0.decode(String.self) }
    }

    @Test func `a person gives a consent and withdraws it, and the former answer stays on record`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let both: JSON = ["terms": true, "marketing": true]
            #expect(try await kim.send(.put, "/account/terms", both).status == 200)
            let now = try rows(of: "consents")
            #expect(now == ["marketing: accepted 2026-11", "terms: accepted 2026-11"])
            #expect(try rows(of: "past_consents").isEmpty, "the answer to the terms is the same")

            #expect(try await kim.send(.put, "/account/terms", both).status == 200)
            #expect(try rows(of: "past_consents").isEmpty, "the same answer records nothing")

            let withdrawn = try await kim.send(.put, "/account/terms", ["terms": true, "marketing": false])
            #expect(withdrawn.status == 200)
            #expect(try rows(of: "consents").first == "marketing: declined 2026-11")
            #expect(try rows(of: "past_consents") == ["marketing: accepted 2026-11"])
            let inOrder = try DatabaseSession().number(
                of: """
                    past_consents AS past JOIN consents AS now USING (account, field)
                     WHERE past.given_at < past.ended_at AND past.ended_at = now.given_at
                    """
            )
            #expect(inOrder == 1)
        }
    }

    @Test func `a consent that is left out is withdrawn, and one that was never given is not recorded`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.send(.put, "/account/terms", ["terms": true])
            #expect(try rows(of: "consents") == ["terms: accepted 2026-11"])
            try await kim.send(.put, "/account/terms", ["terms": true, "marketing": true])
            try await kim.send(.put, "/account/terms", ["terms": true])
            #expect(try rows(of: "consents").first == "marketing: declined 2026-11")
            try await kim.send(.put, "/account/terms", ["terms": true])
            #expect(try rows(of: "past_consents").count == 1)
        }
    }

    @Test func `a required consent cannot be withdrawn`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let declined = try await kim.send(.put, "/account/terms", ["terms": false, "marketing": true])
            #expect(declined.refusals == ["terms:not_accepted"])
            #expect(try await kim.send(.put, "/account/terms", ["marketing": true]).refusals == ["terms:required"])
            #expect(try await kim.send(.put, "/account/terms", ["terms": "on"]).refusals == ["terms:wrong_type"])
            #expect(try rows(of: "consents") == ["terms: accepted 2026-11"])
            #expect(try await Browser(site).send(.put, "/account/terms", ["terms": true]).slug == "no-session")
        }
    }

    @Test func `the pages name consents briefly, and offer no box for one that cannot be withdrawn`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let review = try await kim.fill(through: "terms")
            #expect(review.has("<dt>Terms of use</dt><dd>Agreed</dd>"))
            #expect(review.has("<dt>News and offers by email</dt><dd>No</dd>"))
            _ = try await kim.post("/signup/commit")
            let account = try await kim.open("/account")
            #expect(account.has("<dt>News and offers by email</dt><dd>No</dd>"))
            #expect(account.has("<dt>Terms of use</dt>"))
            #expect(account.has("href=\"/account/terms\">Change preferences</a>"))
            let edit = try await kim.open("/account/terms")
            #expect(edit.has("Terms of use: Agreed") && edit.has("type=\"hidden\" name=\"terms\" value=\"true\""))
            #expect(!edit.has("name=\"terms\" type=\"checkbox\"") && edit.has("name=\"marketing\" type=\"checkbox\""))
            let saved = try await kim.post("/account/terms", "terms=true&marketing=on")
            #expect(saved.path == "/account?saved")
            #expect(try rows(of: "consents") == ["marketing: accepted 2026-11", "terms: accepted 2026-11"])
        }
    }

    @Test func `a person agrees to a newer version`() async throws {
        let jar = Mutex<String?>(nil)
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.send(.put, "/account/terms", ["terms": true, "marketing": true])
            jar.withLock { $0 = kim["session"] }
        }
        let newer = try standardFlow(with: "").replacing("version: \"2026-11\"", with: "version: \"2027-01\"")
        try await TestServer.with(flow: newer) { site in
            let kim = Browser(site)
            kim["session"] = jar.withLock { $0 }
            let step = try await kim.send(.get, "/account/terms").json
            guard case .array(let fields)? = step["fields"] else { throw Missing() }
            #expect(fields[0]["value"]?["version"] == "2026-11" && fields[0]["rules"]?["version"] == "2027-01")
            #expect(try await kim.send(.put, "/account/terms", ["marketing": true]).refusals == ["terms:required"])
            #expect(try await kim.send(.put, "/account/terms", ["terms": true]).status == 200)
            #expect(try rows(of: "consents") == ["marketing: declined 2027-01", "terms: accepted 2027-01"])
            #expect(try rows(of: "past_consents") == ["marketing: accepted 2026-11", "terms: accepted 2026-11"])
        }
    }

    @Test func `the account shows the current consents, and the export also the former ones`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.send(.put, "/account/terms", ["terms": true, "marketing": true])
            try await kim.send(.put, "/account/terms", ["terms": true, "marketing": false])
            let account = try await kim.send(.get, "/account").json
            let export = try await kim.send(.get, "/account/export").json
            #expect(account["consents"] == export["consents"])
            guard case .array(let now)? = account["consents"], case .array(let past)? = export["past_consents"] else {
                throw Missing()
            }
            #expect(now.map { $0["field"] } == ["marketing", "terms"] && now.map { $0["accepted"] } == [false, true])
            #expect(past.map { $0["field"] } == ["marketing"] && past.map { $0["accepted"] } == [true])
            #expect(past[0]["ended_at"]?.string != nil && past[0]["version"] == "2026-11")
            try await kim.send(.delete, "/account")
            #expect(try rows(of: "consents").isEmpty && rows(of: "past_consents").isEmpty)
        }
    }

    @Test func `an account records at most fifty changes a day`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            for number in 1...50 {
                let body: JSON = ["terms": true, "marketing": .bool(number % 2 == 1)]
                #expect(try await kim.send(.put, "/account/terms", body).status == 200)
            }
            let body: JSON = ["terms": true, "marketing": true]
            #expect(try await kim.send(.put, "/account/terms", body).slug == "rate-limited")
            #expect(try rows(of: "consents").first == "marketing: declined 2026-11")
        }
    }

    @Test func `the pages show and change consents without script`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            let account = try await kim.open("/account")
            #expect(account.has("Terms and preferences") && account.has("Agreed · version 2026-11"))
            #expect(account.has("href=\"/account/terms\""))
            let form = try await kim.open("/account/terms")
            #expect(
                !form.has("name=\"marketing\" type=\"checkbox\" checked") && form.has(">Terms and preferences</h1>")
            )
            let refused = try await kim.post("/account/terms", "marketing=on")
            #expect(refused.status == 422 && refused.has("name=\"marketing\" type=\"checkbox\" checked"))
            let saved = try await kim.post("/account/terms", "terms=on&marketing=on")
            #expect(saved.path == "/account?saved" && saved.has("<dd>Yes · version"))
            let withdrawn = try await kim.post("/account/terms", "terms=on")
            #expect(withdrawn.path == "/account?saved" && withdrawn.has("<dd>No · version"))
            #expect(try rows(of: "past_consents") == ["marketing: accepted 2026-11"])
        }
    }

    @Test func `the form ticks no box for a version that the person has not accepted`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            try DatabaseSession().run("UPDATE consents SET version = '2025-01'")
            let form = try await kim.open("/account/terms")
            #expect(form.has("name=\"terms\" type=\"checkbox\"") && !form.has("type=\"checkbox\" checked"))
        }
    }
}
