import TestSupport
import Testing

@testable import Accounts

@Suite("Clearing a step", .freshDatabase, .timeLimit(.minutes(5)))
struct ClearTests {
    private let session: Session

    init() throws {
        session = try Session()
    }

    @Test(
        arguments: [
            ("password", ["password", "confirmation"], ["password"]),
            ("profile", ["username"], ["username", "display_name"]),
            ("contact", ["birth_date"], ["birth_date"]), ("terms", ["terms"], ["terms"]),
        ] as [(StepName, [FieldName], [FieldName])]
    )
    func `a cleared step is empty and wants to be answered again`(
        name: StepName,
        missing: [FieldName],
        emptied: [FieldName]
    ) async throws {
        try await Stage.with { stage in
            let draft = try await stage.readyDraft()
            let cleared = try await clear(name, of: draft, on: stage)
            #expect(cleared.cleared == [])
            #expect(cleared.draft.revision == draft.revision + 1)
            let found = try await stage.signups.reread(draft)
            #expect(Set(draft.values.fields).subtracting(found.values.fields) == Set(emptied))
            #expect(!found.values.answered.contains(name))
            let standing = stage.signups.standing(of: found)
            #expect(standing.next?.name == name)
            #expect(standing.missing == missing)
            #expect(found.proofs["code"]?.isProved == true)

            let answers = Stage.answers(email: "kim@example.com", username: "kim")[name]!
            #expect(stage.signups.standing(of: try await stage.submit(answers, to: name, of: found)).isReady)
        }
    }

    @Test func `a cleared address takes its proof with it, for good`() async throws {
        try await Stage.with { stage in
            let draft = try await stage.readyDraft()
            let code = try stage.mailbox.code(for: "kim@example.com")
            let cleared = try await clear("email", of: draft, on: stage)
            #expect(cleared.cleared == ["code"])
            #expect(stage.signups.standing(of: cleared.draft).missing == ["email", "code"])
            #expect(try session.number(of: "drafts WHERE email_digest IS NOT NULL") == 0)
            #expect(try session.number(of: "proofs WHERE proved_at IS NOT NULL OR code_digest IS NOT NULL") == 0)

            try session.letPass("1 minute")
            let found = try await stage.signups.reread(cleared.draft)
            let again = try await stage.submit(["email": "kim@example.com"], to: "email", of: found)
            #expect(again.proofs["code"]?.isProved == false)
            let newCode = try await stage.readCode(for: "kim@example.com")
            if code != newCode {
                let ending = await outcome { try await stage.submit(["code": .string(code)], to: "code", of: again) }
                #expect(ending == "refused: code code_wrong (4 left)")
            }
            let proved = try await stage.submit(["code": .string(newCode)], to: "code", of: again)
            #expect(stage.signups.standing(of: proved).isReady)
        }
    }

    @Test func `a cleared address has no rivals and ends with nobody's commit`() async throws {
        try await Stage.with { stage in
            let draft = try await clear("email", of: stage.fill(stage.start(), through: "code"), on: stage).draft
            _ = try await stage.signups.commit(stage.readyDraft())
            #expect(await outcome { try await stage.signups.reread(draft) } == "done")
        }
    }

    @Test func `a cleared proof wants a new code`() async throws {
        try await Stage.with { stage in
            let draft = try await stage.readyDraft()
            let code: FieldAnswer = .string(try stage.mailbox.code(for: "kim@example.com"))
            let cleared = try await clear("code", of: draft, on: stage).draft
            #expect(stage.signups.standing(of: cleared).missing == ["code"])
            #expect(
                await outcome { try await stage.submit(["code": code], to: "code", of: cleared) }
                    == "refused: code code_expired"
            )
            #expect(await outcome { try await stage.signups.commit(draft) } == "incomplete: code")

            let step = try #require(stage.signups.flow.step(named: "code"))
            try session.letPass("1 minute")
            _ = try await stage.signups.resend(step, of: stage.signups.reread(cleared))
            let newCode: Answers = try await ["code": .string(stage.readCode(for: "kim@example.com"))]
            let proved = try await stage.submit(newCode, to: "code", of: stage.signups.reread(cleared))
            #expect(stage.signups.standing(of: proved).isReady)
        }
    }

    @Test func `a code that is on its way dies with its step`() async throws {
        try await Stage.with { stage in
            let draft = try await stage.fill(stage.start(), through: "email")
            let code: Answers = try await ["code": .string(stage.readCode(for: "kim@example.com"))]
            let cleared = try await clear("code", of: draft, on: stage).draft
            #expect(
                await outcome { try await stage.submit(code, to: "code", of: cleared) } == "refused: code code_expired"
            )
        }
    }

    @Test func `a step that cannot be reached cannot be cleared`() async throws {
        try await Stage.with { stage in
            let draft = try await stage.fill(stage.start(), through: "email")
            #expect(await outcome { try await clear("profile", of: draft, on: stage) } == "locked, next is code")
        }
    }

    @Test func `a stale, committed or ended draft is not cleared`() async throws {
        try await Stage.with { stage in
            let draft = try await stage.readyDraft()
            let step = try #require(stage.signups.flow.step(named: "terms"))
            #expect(
                await outcome { try await stage.signups.clear(step, of: draft, at: draft.revision - 1) }
                    == "stale, it is at \(draft.revision)"
            )
            let other = try await stage.readyDraft(email: "lee@example.com", username: "lee")
            try await stage.signups.cancel(other)
            #expect(await outcome { try await clear("terms", of: other, on: stage) } == "cancelled")
            _ = try await stage.signups.commit(draft)
            let before = try session.dump()
            #expect(await outcome { try await clear("terms", of: draft, on: stage) } == "committed")
            #expect(try session.dump() == before)
        }
    }

    private func clear(_ step: StepName, of draft: Draft, on stage: Stage) async throws(SubmitError) -> Outcome {
        try await stage.signups.clear(stage.signups.flow.step(named: step)!, of: draft)
    }
}
