import Crypto
import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Setting up an authenticator", .freshDatabase, .timeLimit(.minutes(30)))
struct EnrolmentTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    /// A draft whose next step is the one with the authenticator.
    private func draft(_ service: TestSignups) async throws -> Draft {
        try await service.fill(service.start(), through: "contact")
    }

    // MARK: - The secret

    @Test func `reading the secret writes nothing and returns the same secret each time`() async throws {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            let before = try session.dump()
            let first = try await service.enrolment(draft)
            #expect(try await service.enrolment(draft).secret == first.secret)
            #expect(first.secret.count == 32)
            #expect(try session.dump() == before)
            let other = try await service.fill(
                service.start(),
                through: "contact",
                email: "lee@example.com",
                username: "lee"
            )
            #expect(try await service.enrolment(other).secret != first.secret)
        }
    }

    @Test func `a right code sets up the authenticator, and its secret is not shown again`() async throws {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            let outcome = try await service.enrol(draft)
            #expect(outcome.recoveryCodes.count == 10 && Set(outcome.recoveryCodes.map(\.text)).count == 10)
            #expect(service.signups.progress(of: outcome.draft).states["totp"] == .complete)
            #expect(try await service.signups.enrolment(at: service.totp, of: outcome.draft) == nil)
            let field = try #require(service.signups.flow.field(named: "totp"))
            let shown = field.kind.shown(field, in: outcome.draft, at: .review)
            #expect(shown == ["set": true])
        }
    }

    @Test func `submitting the same code again changes nothing and returns no recovery codes`() async throws {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            let code = try await service.totpCode(draft)
            let outcomes = try await atOnce(2) { _ in
                try await service.signups.submit(["totp": .string(code)], to: service.totp, of: draft)
            }
            #expect(outcomes.map(\.recoveryCodes.count).sorted() == [0, 10])
            #expect(outcomes[0].draft.values.json(of: "totp") == outcomes[1].draft.values.json(of: "totp"))
        }
    }

    @Test func `any other code is refused after the confirmation, and nothing changes`() async throws {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            let enrolment = try await service.enrolment(draft)
            let step = TOTP.timeStep(at: Date())
            let codes = (-1...2).map { TOTP.code(enrolment.secret.base32Bytes, step: step + $0) }
            let code = codes[1]
            let confirmed = try await service.submit(["totp": .string(code)], to: "totp", of: draft)
            let before = try session.dump()
            for draft in [draft, confirmed] {
                // The app shows the codes of neighbouring time steps before and after the right one.
                for other in codes where other != code {
                    #expect(
                        await outcome { try await service.submit(["totp": .string(other)], to: "totp", of: draft) }
                            == "refused: totp code_wrong"
                    )
                }
                #expect(
                    await outcome { try await service.submit(["totp": .string(code)], to: "totp", of: draft) } == "done"
                )
            }
            #expect(try session.dump() == before)
        }
    }

    @Test func `a secret from before a key rotation is still accepted`() async throws {
        let rotated = "new:" + Data(repeating: 9, count: 32).base64EncodedString() + "," + TestSignups.keys
        let (draft, secret) = try await TestSignups.with { service -> (Draft, String) in
            let draft = try await self.draft(service)
            return (draft, try await service.enrolment(draft).secret)
        }
        try await TestSignups.with(keys: rotated) { service in
            let code = TOTP.code(secret.base32Bytes, step: TOTP.timeStep(at: Date()))
            let outcome = try await service.signups.submit(["totp": .string(code)], to: service.totp, of: draft)
            #expect(outcome.recoveryCodes.count == 10)
        }
    }

    // MARK: - Wrong codes

    @Test func `five wrong codes within 30 seconds replace the secret`() async throws {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            let secret = try await service.enrolment(draft).secret
            for left in [4, 3, 2, 1] {
                #expect(await service.guess(draft) == "refused: totp code_wrong (\(left) left)")
                // Moves all wrong codes to the present, because a slow machine may need more than 30 seconds for them.
                try session.run("UPDATE enrolments SET recent = array_fill(now(), ARRAY[cardinality(recent)])")
            }
            let code = try await service.totpCode(draft)
            #expect(await service.guess(draft) == "refused: totp code_exhausted")
            #expect(try await service.enrolment(draft).secret != secret)
            let answers: Answers = ["totp": .string(code)]
            #expect(
                await outcome { try await service.submit(answers, to: "totp", of: draft) }
                    == "refused: totp code_wrong (4 left)"
            )
            #expect(try await service.enrol(draft).recoveryCodes.count == 10)
        }
    }

    @Test func `the right code is accepted after four wrong ones`() async throws {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            for _ in 0..<4 { _ = await service.guess(draft) }
            #expect(try await service.enrol(draft).recoveryCodes.count == 10)
        }
    }

    @Test func `slower wrong codes keep the secret, up to the draft's limit of twenty-five`() async throws {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            let secret = try await service.enrolment(draft).secret
            for _ in 0..<6 {
                for _ in 0..<4 { #expect(await service.guess(draft).hasPrefix("refused: totp code_wrong")) }
                try session.letPass("31 seconds")
            }
            #expect(try await service.enrolment(draft).secret == secret)
            #expect(await service.guess(draft) == "refused: totp code_exhausted")
            #expect(try await service.enrolment(draft).secret != secret)
        }
    }

    @Test func `concurrent guesses exhaust one secret after another`() async throws {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            let outcomes = try await atOnce(60) { _ in await service.guess(draft) }
            let generation = try session.query("SELECT generation FROM enrolments").only.decode(Int.self)
            // If all 60 guesses are within 30 seconds, they exhaust 12 secrets, with 5 guesses each. A slow machine
            // exhausts fewer, but at least two, because a secret allows at most 25 guesses.
            #expect((2...12).contains(generation))
            #expect(outcomes.tally["refused: totp code_exhausted"] == generation)
        }
    }

    // MARK: - Dependence on the address

    @Test func `setting up an authenticator is refused before the address is proved`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            #expect(
                await outcome { try await service.submit(["totp": "123456"], to: "totp", of: draft) }
                    == "locked, next is code"
            )
        }
    }

    @Test func `a changed address gets a new secret`() async throws {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            let secret = try await service.enrolment(draft).secret
            let moved = try await service.submit(["email": "kim@example.org"], to: "email", of: draft)
            let code = try await service.readCode(for: "kim@example.org")
            let proved = try await service.submit(["code": .string(code)], to: "code", of: moved)
            #expect(try await service.enrolment(proved).secret != secret)
        }
    }

    @Test func `a changed or cleared address removes the authenticator`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.enrol(self.draft(service)).draft
            let step = service.signups.flow.step(named: "email")!
            let moved = try await service.signups.submit(["email": "kim@example.org"], to: step, of: draft)
            #expect(moved.cleared == ["totp", "code"])
            let code = try await service.readCode(for: "kim@example.org")
            let proved = try await service.submit(["code": .string(code)], to: "code", of: moved.draft)
            #expect(service.signups.progress(of: proved).next?.name == "totp")
            let cleared = try await service.signups.clear(step, of: service.enrol(proved).draft)
            #expect(cleared.draft.values.json(of: "totp") == nil && cleared.cleared == ["totp", "code"])
        }
    }

    @Test func `an empty answer or a cleared step removes the authenticator, and the next has a new secret`()
        async throws
    {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            let secret = try await service.enrolment(draft).secret
            let skipped = try await service.submit([:], to: "totp", of: service.enrol(draft).draft)
            #expect(skipped.values.json(of: "totp") == nil)
            let second = try await service.enrolment(skipped).secret
            let cleared = try await service.signups.clear(service.totp, of: service.enrol(skipped).draft).draft
            #expect(Set([secret, second, try await service.enrolment(cleared).secret]).count == 3)
        }
    }

    // MARK: - Commit and cancel

    @Test func `a commit stores the secret, the time step and the recovery codes`() async throws {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            let enrolment = try await service.enrolment(draft)
            let code = try await service.totpCode(draft)
            let outcome = try await service.signups.submit(["totp": .string(code)], to: service.totp, of: draft)
            let ready = try await service.submit(["terms": true], to: "terms", of: outcome.draft)
            let account = try await service.signups.commit(ready).account
            #expect(account.profile == ["birth_date": "2001-02-28", "display_name": "Kim"])

            let (sealed, step) = try session.query(
                "SELECT sealed, last_step FROM authenticators WHERE account = \(account.id)"
            )
            .only.decode([UInt8].self, Int.self)
            let secret = try KeyRing(TestSignups.keys).open(sealed, for: .authenticator(of: account.id))
            #expect(secret.base32.uppercased() == enrolment.secret)
            // The stored time step must be exactly that of the code, so that a sign-in refuses the code.
            #expect(TOTP.code(secret, step: step) == code)
            let digests = try session.query("SELECT digest FROM recovery_codes WHERE account = \(account.id)")
                .map { try $0.decode([UInt8].self) }
            let expected = outcome.recoveryCodes.map { code in
                Array(SHA256.hash(data: Data(code.text.filter { $0 != "-" }.utf8)))
            }
            #expect(Set(digests) == Set(expected))
            #expect(try session.number(of: "enrolments") == 0)
        }
    }

    @Test func `a code for an older revision is validated against the current draft`() async throws {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            let code = try await service.totpCode(draft)
            _ = try await service.submit(["terms": true], to: "terms", of: draft)
            let outcome = try await service.signups.submit(["totp": .string(code)], to: service.totp, of: draft)
            #expect(outcome.recoveryCodes.count == 10)
            #expect(outcome.draft.values.contains("totp") && outcome.draft.values.contains("terms"))
        }
    }

    @Test func `an unconfirmed authenticator leaves no rows after the commit`() async throws {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            _ = await service.guess(draft)
            let skipped = try await service.submit([:], to: "totp", of: draft)
            let ready = try await service.submit(["terms": true], to: "terms", of: skipped)
            _ = try await service.signups.commit(ready)
            for table in ["enrolments", "authenticators", "recovery_codes"] {
                #expect(try session.number(of: table) == 0)
            }
        }
    }

    @Test func `a cancelled draft leaves no enrolment`() async throws {
        try await TestSignups.with { service in
            let draft = try await self.draft(service)
            _ = await service.guess(draft)
            try await service.signups.cancel(draft)
            #expect(try session.number(of: "enrolments") == 0)
            #expect(await service.guess(draft) == "cancelled")
            #expect(try session.number(of: "enrolments") == 0)
        }
    }
}

extension TestSignups {
    fileprivate var totp: Step { signups.flow.step(named: "totp")! }

    fileprivate func enrolment(_ draft: Draft) async throws -> Enrolment {
        try #require(try await signups.enrolment(at: totp, of: draft))
    }

    /// The code that the app shows now.
    fileprivate func totpCode(_ draft: Draft) async throws -> String {
        let secret = try await enrolment(draft).secret
        return TOTP.code(secret.base32Bytes, step: TOTP.timeStep(at: Date()))
    }

    fileprivate func enrol(_ draft: Draft) async throws -> Outcome {
        let code = try await totpCode(draft)
        return try await signups.submit(["totp": .string(code)], to: totp, of: draft)
    }

    /// The outcome of submitting a wrong code.
    fileprivate func guess(_ draft: Draft) async -> String {
        await outcome {
            // The guess must not be right by chance.
            let right = try? await totpCode(draft)
            let answers: Answers = ["totp": right?.first == "0" ? "111111" : "000000"]
            return try await submit(answers, to: "totp", of: draft)
        }
    }
}
