import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Checks before a submission", .freshDatabase)
struct CheckTests {
    @Test(
        arguments: [
            ("email", ["email": "kim@example.com"], []),
            ("email", ["email": "kim"], ["email:bad_format"]),
            ("email", ["email": ""], ["email:required"]), ("email", [:], []),
            ("email", ["phone": 1], ["phone:unknown_field"]), ("code", ["code": "12"], ["code:bad_format"]),
            ("code", ["code": "000000"], []),
            ("password", ["password": "short"], ["password:too_short"]),
            ("password", ["password": "a pass phrase of mine"], []),
            ("password", ["confirmation": "a pass phrase of mine"], ["confirmation:mismatch"]),
            (
                "password", ["password": "a pass phrase of mine", "confirmation": "a pass phrase of yours"],
                ["confirmation:mismatch"]
            ),
            ("profile", ["display_name": "Kim"], []), ("profile", ["username": "admin"], ["username:reserved"]),
            ("contact", ["birth_date": "2023-02-29"], ["birth_date:impossible_date"]),
        ] as [(String, JSON, [String])]
    )
    func `a check validates the given fields as a submission does, and changes nothing`(
        step: String,
        body: JSON,
        refusals: [String]
    )
        async throws
    {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: step == "code" ? "email" : "profile")
            let before = try await Self.allRows()
            let response = try await kim.send(.post, "/signup/\(step)/check", body)
            #expect(response.status == 200)
            #expect(response.json["valid"] == .bool(refusals.isEmpty))
            #expect(response.refusals == refusals)
            #expect(try await Self.allRows() == before)
        }
    }

    @Test func `a check of a locked step, an unknown step or a committed sign-up is refused`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            #expect(try await kim.send(.post, "/signup/terms/check", [:]).slug == "step-locked")
            #expect(try await kim.send(.post, "/signup/nothing/check", [:]).slug == "unknown-step")
            try await kim.fill()
            #expect(try await kim.commit().status == 201)
            #expect(try await kim.send(.post, "/signup/terms/check", [:]).slug == "already-committed")
        }
    }

    @Test func `a check has no page, so a browser gets its problems as JSON`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            #expect(try await kim.send(.post, "/signup/email/check", "email=kim").slug == "no-draft")
            _ = try await kim.post("/signup", "locale=en")
            let valid = try await kim.send(.post, "/signup/email/check", "email=kim%40example.com")
            #expect(valid.status == 200 && valid.json["valid"] == true)
            let locked = try await kim.send(.post, "/signup/terms/check", "terms=on")
            #expect(locked.status == 409 && locked.slug == "step-locked")
        }
    }

    @Test func `a check tells how a value is written if it was typed otherwise`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "password")
            for (typed, written) in [("KimLee", ["username": "kimlee"]), ("kimlee", [:])] as [(String, JSON)] {
                let answer = try await kim.send(.post, "/signup/profile/check", ["username": .string(typed)])
                #expect(answer.json["valid"] == true && answer.json["written"] == written)
            }
        }
    }

    /// All rows that a check could change.
    private static func allRows() async throws -> [String] {
        try DatabaseSession().query(
            """
            SELECT drafts::text FROM drafts UNION ALL SELECT proofs::text FROM proofs
            UNION ALL SELECT leases::text FROM leases UNION ALL SELECT count(*)::text FROM outbox
            """
        ).map { try $0.decode(String.self) }
    }
}
