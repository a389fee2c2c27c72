import TestSupport
import Testing

@testable import Accounts

@Suite("Clearing a step", .freshDatabase, .timeLimit(.minutes(30)))
struct ClearTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test(
        arguments: [
            ("password", ["password", "confirmation"], ["password"]),
            ("profile", ["username"], ["username", "display_name"]),
            ("contact", ["birth_date"], ["birth_date"]), ("terms", ["terms"], ["terms"]),
        ] as [(StepName, [FieldName], [FieldName])]
    )
    func `a cleared step is empty and becomes the next step`(
        name: StepName,
        missing: [FieldName],
        emptied: [FieldName]
    ) async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let cleared = try await clear(name, of: draft, on: service)
            #expect(cleared.cleared == [])
            #expect(cleared.draft.revision == draft.revision + 1)
            let found = try await service.signups.reread(draft)
            #expect(Set(draft.values.fields).subtracting(found.values.fields) == Set(emptied))
            #expect(!found.values.answered.contains(name))
            let progress = service.signups.progress(of: found)
            #expect(progress.next?.name == name)
            #expect(progress.missing == missing)
            #expect(found.proofs["code"]?.isProved == true)

            let answers = TestSignups.answers(email: "kim@example.com", username: "kim")[name]!
            #expect(service.signups.progress(of: try await service.submit(answers, to: name, of: found)).isReady)
        }
    }

    @Test func `a cleared address permanently loses its proof`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let code = try service.mailbox.code(for: "kim@example.com")
            let cleared = try await clear("email", of: draft, on: service)
            #expect(cleared.cleared == ["code"])
            #expect(service.signups.progress(of: cleared.draft).missing == ["email", "code"])
            #expect(try session.number(of: "drafts WHERE email_digest IS NOT NULL") == 0)
            #expect(try session.number(of: "proofs WHERE proved_at IS NOT NULL OR code_digest IS NOT NULL") == 0)

            try session.letPass("1 minute")
            let found = try await service.signups.reread(cleared.draft)
            let again = try await service.submit(["email": "kim@example.com"], to: "email", of: found)
            #expect(again.proofs["code"]?.isProved == false)
            let newCode = try await service.readCode(for: "kim@example.com")
            if code != newCode {
                let ending = await outcome { try await service.submit(["code": .string(code)], to: "code", of: again) }
                #expect(ending == "refused: code code_wrong (4 left)")
            }
            let proved = try await service.submit(["code": .string(newCode)], to: "code", of: again)
            #expect(service.signups.progress(of: proved).isReady)
        }
    }

    @Test func `a draft with a cleared address is not superseded by another commit`() async throws {
        try await TestSignups.with { service in
            let draft = try await clear("email", of: service.fill(service.start(), through: "code"), on: service).draft
            _ = try await service.signups.commit(service.readyDraft())
            #expect(await outcome { try await service.signups.reread(draft) } == "done")
        }
    }

    @Test func `a cleared proof needs a new code`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let code: FieldAnswer = .string(try service.mailbox.code(for: "kim@example.com"))
            let cleared = try await clear("code", of: draft, on: service).draft
            #expect(service.signups.progress(of: cleared).missing == ["code"])
            #expect(
                await outcome { try await service.submit(["code": code], to: "code", of: cleared) }
                    == "refused: code code_expired"
            )
            #expect(await outcome { try await service.signups.commit(draft) } == "incomplete: code")

            let step = try #require(service.signups.flow.step(named: "code"))
            try session.letPass("1 minute")
            _ = try await service.signups.resend(step, of: service.signups.reread(cleared))
            let newCode: Answers = try await ["code": .string(service.readCode(for: "kim@example.com"))]
            let proved = try await service.submit(newCode, to: "code", of: service.signups.reread(cleared))
            #expect(service.signups.progress(of: proved).isReady)
        }
    }

    @Test func `clearing the step of a code invalidates a pending code`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let code: Answers = try await ["code": .string(service.readCode(for: "kim@example.com"))]
            let cleared = try await clear("code", of: draft, on: service).draft
            #expect(
                await outcome { try await service.submit(code, to: "code", of: cleared) }
                    == "refused: code code_expired"
            )
        }
    }

    @Test func `a locked step cannot be cleared`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            #expect(await outcome { try await clear("profile", of: draft, on: service) } == "locked, next is code")
        }
    }

    @Test func `a stale, committed or cancelled draft is not cleared`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let step = try #require(service.signups.flow.step(named: "terms"))
            #expect(
                await outcome { try await service.signups.clear(step, of: draft, at: draft.revision - 1) }
                    == "stale, the revision is \(draft.revision)"
            )
            let other = try await service.readyDraft(email: "lee@example.com", username: "lee")
            try await service.signups.cancel(other)
            #expect(await outcome { try await clear("terms", of: other, on: service) } == "cancelled")
            _ = try await service.signups.commit(draft)
            let before = try session.dump()
            #expect(await outcome { try await clear("terms", of: draft, on: service) } == "committed")
            #expect(try session.dump() == before)
        }
    }

    private func clear(_ step: StepName, of draft: Draft, on service: TestSignups) async throws(SubmitError) -> Outcome
    {
        try await service.signups.clear(service.signups.flow.step(named: step)!, of: draft)
    }
}
