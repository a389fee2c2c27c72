import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Proving the address", .freshDatabase, .timeLimit(.minutes(30)))
struct ProofTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    // MARK: - The code and its mail

    @Test func `submitting the address sends a code that proves it`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            #expect(draft.proofs["code"]?.attempts == 0)
            #expect(try session.number(of: "outbox WHERE template = 'verification-code' AND state = 'waiting'") == 1)
            let code = try await service.readCode(for: "kim@example.com")
            let proved = try await service.submit(["code": .string(code)], to: "code", of: draft)
            #expect(proved.proofs["code"]?.isProved == true)
            #expect(service.signups.progress(of: proved).states["code"] == .complete)
            let step: SQL = "SELECT step FROM drafts"
            #expect(try session.query(step).only.decode(String.self) == "password")
            _ = try await service.submit(["email": "lee@example.com"], to: "email", of: proved)
            #expect(try session.query(step).only.decode(String.self) == "code")
        }
    }

    @Test func `a proof is void after a change of the address, also while the flow has no field for the code`()
        async throws
    {
        func flow(withCode: Bool) -> String {
            """
            flow: test
            version: 1
            steps:
              - {name: name, title: {en: Name}, fields: [{name: name, kind: username, identifier: true, label: {en: Name}}]}
              - {name: work, title: {en: Work}, fields: [{name: work, kind: email, label: {en: Work}}]}
            """
                + (withCode
                    ? "\n  - {name: proof, title: {en: Code}, fields: [{name: proof, kind: code, proves: work, label: {en: Code}}]}"
                    : "")
        }
        let proved = try await TestSignups.with(flow: flow(withCode: true)) { service in
            let named = try await service.submit(["name": "kim"], to: "name", of: service.start())
            let draft = try await service.submit(["work": "kim@example.com"], to: "work", of: named)
            let code = try await service.readCode(for: "kim@example.com")
            return try await service.submit(["proof": .string(code)], to: "proof", of: draft)
        }
        #expect(proved.proofs["proof"]?.isProved == true)
        let returned = try await TestSignups.with(flow: flow(withCode: false)) { service in
            let left = try await service.submit(
                ["work": "lee@example.com"],
                to: "work",
                of: service.signups.reread(proved)
            )
            return try await service.submit(["work": "kim@example.com"], to: "work", of: left)
        }
        try await TestSignups.with(flow: flow(withCode: true)) { service in
            let draft = try await service.signups.reread(returned)
            #expect(draft.proofs["proof"]?.isProved == false)
        }
    }

    @Test(arguments: ["proofs", "outbox", "drafts"])
    func `code, mail and address are written in one transaction`(table: String) async throws {
        try await TestSignups.with { service in
            let draft = try await service.start()
            let before = try session.dump()
            try session.refuse("INSERT OR UPDATE", on: table)
            let answers: Answers = ["email": "kim@example.com"]
            #expect(
                await outcome { try await service.submit(answers, to: "email", of: draft) } == "database refused: P0001"
            )
            #expect(try session.dump() == before)
            try session.allow()
            #expect(await outcome { try await service.submit(answers, to: "email", of: draft) } == "done")
            #expect(try session.number(of: "proofs") == 1)
            #expect(try session.number(of: "outbox") == 1)
        }
    }

    @Test func `codes have six digits, and a code with a leading zero is accepted`() async throws {
        try await TestSignups.with { service in
            let drafts = try await atOnce(200) { number in
                try await service.submit(
                    ["email": .string("kim\(number)@example.com")],
                    to: "email",
                    of: service.start()
                )
            }
            try await service.deliver()
            let codes = try drafts.indices.map { try service.mailbox.code(for: "kim\($0)@example.com") }
            for code in codes {
                #expect(code.wholeMatch(of: /[0-9]{6}/) != nil)
            }
            #expect(Set(codes).count > 150)
            let index = try #require(codes.firstIndex { $0.hasPrefix("0") })
            let answers: Answers = ["code": .string(codes[index])]
            #expect(await outcome { try await service.submit(answers, to: "code", of: drafts[index]) } == "done")
        }
    }

    @Test func `a code is stored as a keyed digest of draft, address and generation`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            func digest(
                _ digits: String,
                _ draft: ID<Draft>,
                _ address: String = "kim@example.com",
                generation: Int = 1
            ) -> [UInt8] {
                service.signups.codeDigests(digits, of: draft, address: EmailAddress(address)!, generation: generation)[
                    0
                ]
            }
            let select: SQL = "SELECT code_digest FROM proofs"
            let stored = try session.query(select).only.decode([UInt8].self)
            #expect(stored.count == 32)
            #expect(stored == digest(code, draft.id))
            #expect(stored != digest(wrong(code), draft.id))
            #expect(stored != digest(code, ID<Draft>()))
            #expect(stored != digest(code, draft.id, "lee@example.com"))
            #expect(stored != digest(code, draft.id, generation: 2))
            #expect(try session.isTrue("\(stored) <> sha256(convert_to(\(code), 'UTF8'))"))

            let proved = try await service.submit(["code": .string(code)], to: "code", of: draft)
            #expect(try session.query(select).only.decode([UInt8].self) == stored)
            _ = try await service.submit(["email": "lee@example.com"], to: "email", of: proved)
            #expect(try session.query(select).only.decode([UInt8].self) != stored)
        }
    }

    // MARK: - Guessing

    @Test func `a wrong code uses an attempt, and the right code is still accepted`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            let expected = "refused: code code_wrong (4 left)"
            #expect(
                await outcome { try await service.submit(["code": .string(wrong(code))], to: "code", of: draft) }
                    == expected
            )
            #expect(try await service.signups.reread(draft).revision == draft.revision)
            #expect(
                await outcome { try await service.submit(["code": .string(code)], to: "code", of: draft) } == "done"
            )
            #expect(try session.number(of: "proofs WHERE failures = 1 AND attempts = 2") == 1)
        }
    }

    @Test(
        arguments: [
            ("12345", "bad_format"), ("1234567", "bad_format"), ("abcdef", "bad_format"), ("１２３４５", "bad_format"),
            ("12345\n", "bad_format"), ("-12345", "bad_format"), (123_456, "wrong_type"), (true, "wrong_type"),
            ("", "required"), (nil, "required"), ("      ", "bad_format"),
        ] as [(FieldAnswer, String)]
    )
    func `a malformed code is refused without using an attempt`(code: FieldAnswer, refusal: String) async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let before = try session.dump()
            #expect(
                await outcome { try await service.submit(["code": code], to: "code", of: draft) }
                    == "refused: code \(refusal)"
            )
            #expect(try session.dump() == before)
        }
    }

    @Test func `a missing code is refused without using an attempt`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            #expect(await outcome { try await service.submit([:], to: "code", of: draft) } == "refused: code required")
            #expect(try session.number(of: "proofs WHERE attempts = 0") == 1)
        }
    }

    @Test func `the right code is refused after five wrong ones`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            for left in (0..<5).reversed() {
                let answers: Answers = ["code": .string(wrong(code, by: left + 1))]
                let expected = "refused: code code_wrong (\(left) left)"
                #expect(await outcome { try await service.submit(answers, to: "code", of: draft) } == expected)
            }
            let current = try await service.signups.reread(draft)
            for draft in [draft, current] {
                let answers: Answers = ["code": .string(code)]
                #expect(
                    await outcome { try await service.submit(answers, to: "code", of: draft) }
                        == "refused: code code_exhausted"
                )
            }
            #expect(try session.number(of: "proofs WHERE attempts = 5 AND failures = 5 AND proved_at IS NULL") == 1)
        }
    }

    @Test func `five of two hundred concurrent guesses are evaluated, and the right code after them is refused`()
        async throws
    {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            let outcomes = try await atOnce(200) { number in
                if number == 0 { try await session.wait(for: "SELECT FROM proofs WHERE attempts >= 5") }
                let guess = number == 0 ? code : wrong(code, by: number)
                return await outcome { try await service.submit(["code": .string(guess)], to: "code", of: draft) }
            }
            #expect(outcomes[0] == "refused: code code_exhausted")
            var expected = (0..<5).reduce(into: [:]) { $0["refused: code code_wrong (\($1) left)"] = 1 }
            expected["refused: code code_exhausted"] = 195
            #expect(outcomes.tally == expected)
            #expect(try session.number(of: "proofs WHERE attempts = 5 AND failures = 5 AND proved_at IS NULL") == 1)
        }
    }

    @Test func `two concurrent submissions of the right code prove the address once`() async throws {
        try await TestSignups.with { service in
            for number in 0..<20 {
                let address = "kim\(number)@example.com"
                let draft = try await service.fill(service.start(), through: "email", email: address)
                let code = try await service.readCode(for: address)
                let outcomes = try await atOnce(2) { _ in
                    await outcome { try await service.submit(["code": .string(code)], to: "code", of: draft) }
                }
                #expect(outcomes == ["done", "done"])
                #expect(try await service.signups.reread(draft).revision == draft.revision + 1)
            }
            #expect(try session.number(of: "proofs WHERE proved_at IS NOT NULL") == 20)
        }
    }

    @Test func `a code that is withdrawn between its comparison and its proof proves nothing`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            let holder = try DatabaseSession()
            try holder.lockDrafts()
            async let guessed = guess(code, in: draft, on: service)
            try await session.waitUntilSomebodyIsBlocked()
            // As the commit of another draft with this address does.
            try holder.run("UPDATE proofs SET code_digest = NULL")
            try holder.releaseDrafts()
            let refused = await guessed
            #expect(refused == "refused: code code_expired")
            #expect(try session.number(of: "proofs WHERE proved_at IS NULL") == 1)
        }
    }

    @Test func `submitting the right code again changes nothing, even at an old revision`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            let proved = try await service.submit(["code": .string(code)], to: "code", of: draft)
            for draft in [draft, proved] {
                let again = try await service.submit(["code": .string(code)], to: "code", of: draft)
                #expect(again.revision == proved.revision)
                #expect(again.proofs["code"]?.isProved == true)
            }
        }
    }

    @Test func `any other code is refused after the proof, and nothing changes`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            let proved = try await service.submit(["code": .string(code)], to: "code", of: draft)
            let before = try session.dump()
            for draft in [draft, proved] {
                for number in 1...6 {
                    #expect(await guess(wrong(code, by: number), in: draft, on: service) == "refused: code code_wrong")
                }
                #expect(await guess("", in: draft, on: service) == "refused: code required")
                #expect(await guess(code, in: draft, on: service) == "done")
            }
            #expect(try session.dump() == before)
        }
    }

    @Test func `the accepted code can be repeated after it has expired`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            let proved = try await service.submit(["code": .string(code)], to: "code", of: draft)
            try session.letPass("10 minutes")
            let current = try await service.signups.reread(proved)
            #expect(await guess(code, in: current, on: service) == "done")
            #expect(await guess(wrong(code), in: current, on: service) == "refused: code code_wrong")
        }
    }

    @Test func `the code of an earlier address is refused after another address was proved`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            let first = try service.mailbox.code(for: "kim@example.com")
            let moved = try await service.submit(["email": "lee@example.com"], to: "email", of: draft)
            let second = try await service.readCode(for: "lee@example.com")
            let proved = try await service.submit(["code": .string(second)], to: "code", of: moved)
            if first != second { #expect(await guess(first, in: proved, on: service) == "refused: code code_wrong") }
            #expect(await guess(second, in: proved, on: service) == "done")
        }
    }

    @Test func `a wrong code that is submitted at the same time as the right one is refused`() async throws {
        try await TestSignups.with { service in
            for number in 0..<20 {
                let address = "kim\(number)@example.com"
                let draft = try await service.fill(service.start(), through: "email", email: address)
                let code = try await service.readCode(for: address)
                let outcomes = try await atOnce(2) { number in
                    await guess(number == 0 ? code : wrong(code), in: draft, on: service)
                }
                // The wrong code uses an attempt only if it is checked before the right one.
                let refusals = ["refused: code code_wrong"] + [3, 4].map { "refused: code code_wrong (\($0) left)" }
                #expect(outcomes[0] == "done" && refusals.contains(outcomes[1]))
            }
        }
    }

    @Test func `a code expires after ten minutes`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let code: Answers = try await ["code": .string(service.readCode(for: "kim@example.com"))]
            try session.letPass("10 minutes")
            let current = try await service.signups.reread(draft)
            for draft in [draft, current] {
                #expect(
                    await outcome { try await service.submit(code, to: "code", of: draft) }
                        == "refused: code code_expired"
                )
            }
            #expect(try session.number(of: "proofs WHERE attempts = 0") == 1)

            try session.run("UPDATE proofs SET expires_at = now() + interval '1 minute'")
            #expect(await outcome { try await service.submit(code, to: "code", of: draft) } == "done")
        }
    }

    // MARK: - Resending a code

    @Test func `another code can be requested after a minute`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let error = await #expect(throws: ResendError.self) { try await resend(draft, on: service) }
            guard case .limited(let reached)? = error else { throw try #require(error) }
            #expect((.seconds(1)...(.seconds(60))).contains(reached.wait))
            #expect(reached.limit == Limit(1, per: .seconds(60)))
            #expect(try session.number(of: "outbox") == 1)

            try session.letPass("1 minute")
            #expect(try await resend(service.signups.reread(draft), on: service) == .seconds(60))
            #expect(try session.number(of: "outbox") == 1)
            let current = try await service.signups.reread(draft)
            #expect(await outcome { try await resend(current, on: service) } == "too many: resend")
        }
    }

    @Test func `a new code replaces the previous one and has five new attempts`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let first = try await service.readCode(for: "kim@example.com")
            for number in 1...5 { await guess(wrong(first, by: number), in: draft, on: service) }
            let second = try await anotherCode(for: draft, on: service)
            #expect(try session.number(of: "proofs WHERE generation = 2 AND attempts = 0 AND failures = 5") == 1)

            let current = try await service.signups.reread(draft)
            if first != second {
                #expect(await guess(first, in: current, on: service) == "refused: code code_wrong (4 left)")
            }
            // The first submission comes from a page that was loaded before the second code was sent.
            #expect(await guess(second, in: draft, on: service) == "refused: code code_expired")
            #expect(await guess(second, in: current, on: service) == "done")
        }
    }

    @Test func `concurrent resends send one code`() async throws {
        try await TestSignups.with { service in
            var draft = try await service.fill(service.start(), through: "email")
            try session.letPass("1 minute")
            draft = try await service.signups.reread(draft)
            let outcomes = try await atOnce(10) { [draft] _ in await outcome { try await resend(draft, on: service) } }
            #expect(outcomes.tally == ["done": 1, "too many: resend": 9])
            #expect(try session.number(of: "outbox") == 1)
            #expect(try session.number(of: "proofs WHERE generation = 2") == 1)
        }
    }

    @Test func `a resend is refused for a proved address, another step, or a missing address`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.start()
            #expect(await outcome { try await resend(draft, on: service) } == "locked, next is email")
            let proved = try await service.fill(draft, through: "code")
            try session.letPass("1 minute")
            #expect(await outcome { try await resend(proved, on: service) } == "refused: code not_allowed")
            let email = service.signups.flow.steps[0]
            #expect(await outcome { try await service.signups.resend(email, of: proved) } == "no code")
            #expect(try session.number(of: "outbox") == 1)
        }
    }

    @Test func `twenty-five wrong codes exhaust the draft permanently`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            var code = try await service.readCode(for: "kim@example.com")
            for round in 1...5 {
                let current = try await service.signups.reread(draft)
                for number in 1...5 {
                    let expected = "refused: code code_wrong (\(5 - number) left)"
                    #expect(await guess(wrong(code, by: number), in: current, on: service) == expected)
                }
                if round < 5 { code = try await anotherCode(for: draft, on: service) }
            }
            try session.letPass("1 minute")
            let before = try session.dump()
            let current = try await service.signups.reread(draft)
            #expect(await guess(code, in: current, on: service) == "refused: code code_exhausted")
            #expect(await outcome { try await resend(current, on: service) } == "refused: code code_exhausted")
            for address in ["kim@example.com", "lee@example.com"] as [FieldAnswer] {
                let answers: Answers = ["email": address]
                let expected = "refused: email code_exhausted"
                #expect(await outcome { try await service.submit(answers, to: "email", of: current) } == expected)
            }
            #expect(try session.dump() == before)
        }
    }

    @Test func `the twenty-fifth failure invalidates a code that has attempts left`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            try session.run("UPDATE proofs SET failures = 24")
            #expect(await guess(wrong(code), in: draft, on: service).hasPrefix("refused: code code_wrong"))
            #expect(await guess(code, in: draft, on: service) == "refused: code code_exhausted")
        }
    }

    // MARK: - Changing the address

    @Test func `changing the address removes its proof, even if it is changed back`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            let proved = try await service.submit(["code": .string(code)], to: "code", of: draft)
            let other = try await service.submit(["email": "lee@example.com"], to: "email", of: proved)
            #expect(other.proofs["code"]?.isProved == false)
            try session.letPass("1 minute")
            let back = try await service.submit(
                ["email": "kim@example.com"],
                to: "email",
                of: service.signups.reread(other)
            )
            #expect(back.proofs["code"]?.isProved == false)
            #expect(service.signups.progress(of: back).next?.name == "code")

            let newCode = try await service.readCode(for: "kim@example.com")
            if code != newCode {
                #expect(await guess(code, in: back, on: service).hasPrefix("refused: code code_wrong"))
            }
            #expect(await guess(newCode, in: back, on: service) == "done")
        }
    }

    @Test func `the code of another address is refused`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            let other = try await service.submit(["email": "lee@example.com"], to: "email", of: draft)
            #expect(await guess(code, in: other, on: service) == "refused: code code_wrong (4 left)")
            #expect(await guess(code, in: draft, on: service) == "refused: code code_expired")
        }
    }

    @Test func `the code of another draft is refused`() async throws {
        try await TestSignups.with { service in
            let one = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            let other = try await service.fill(service.start(), through: "email")
            let otherCode = try await service.readCode(for: "kim@example.com")
            if code != otherCode {
                #expect(await guess(code, in: other, on: service) == "refused: code code_wrong (4 left)")
            }
            #expect(await guess(code, in: one, on: service) == "done")
            #expect(await guess(otherCode, in: other, on: service) == "done")
        }
    }

    @Test func `resubmitting the same address sends a new code only if the last one is unusable`() async throws {
        try await TestSignups.with { service in
            var draft = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            let answers: Answers = ["email": "Kim@Example.com"]
            draft = try await service.submit(answers, to: "email", of: draft)
            #expect(try session.number(of: "outbox") == 1)

            try session.letPass("10 minutes")
            draft = try await service.submit(answers, to: "email", of: service.signups.reread(draft))
            #expect(try session.number(of: "proofs WHERE generation = 2") == 1)

            for number in 1...5 { await guess(wrong(code, by: number), in: draft, on: service) }
            // The code is unusable, but it was sent less than a minute ago.
            draft = try await service.submit(answers, to: "email", of: service.signups.reread(draft))
            #expect(try session.number(of: "proofs WHERE generation = 2") == 1)
            draft = try await service.signups.clear(service.signups.flow.steps[0], of: draft).draft
            draft = try await service.submit(answers, to: "email", of: draft)
            #expect(try session.number(of: "proofs WHERE generation = 2") == 1)
            try session.letPass("1 minute")
            draft = try await service.submit(answers, to: "email", of: service.signups.reread(draft))
            #expect(try session.number(of: "proofs WHERE generation = 3") == 1)

            draft = try await service.submit(
                ["code": .string(service.readCode(for: "kim@example.com"))],
                to: "code",
                of: draft
            )
            try session.letPass("10 minutes")
            draft = try await service.submit(answers, to: "email", of: service.signups.reread(draft))
            #expect(draft.proofs["code"]?.isProved == true)
            #expect(try session.number(of: "proofs WHERE generation = 3") == 1)
        }
    }

    @Test func `a registered address gets the same answers, another mail, and no valid code`()
        async throws
    {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft())
            try await service.deliver()
            let mails = service.mailbox.mails.count
            let taken = try await service.fill(service.start(), through: "email")
            let free = try await service.fill(service.start(), through: "email", email: "lee@example.com")
            #expect(service.signups.progress(of: taken).states == service.signups.progress(of: free).states)
            #expect(service.signups.progress(of: taken).missing == service.signups.progress(of: free).missing)
            #expect(taken.revision == free.revision)
            let field = try #require(service.signups.flow.field(named: "code")?.kind as? CodeField)
            #expect(taken.proofs["code"]?.isUsable(for: field, at: taken.now) == true)

            try await service.deliver()
            let subjects = service.mailbox.mails[mails...].map { [$0.to, $0.subject] }
            #expect(
                Set(subjects) == [
                    [
                        "kim@example.com",
                        Language.english.messages.alreadyRegistered(
                            serviceName: "Acme",
                            link: "http://localhost:8080/sign-in"
                        ).subject,
                    ],
                    [
                        "lee@example.com",
                        Language.english.messages.text(of: .signUp, "", minutes: 10, link: nil, serviceName: "Acme")
                            .subject,
                    ],
                ]
            )
            #expect(try session.number(of: "proofs WHERE code_digest IS NULL") == 1)

            let code = try service.mailbox.code(for: "lee@example.com")
            for left in (0..<5).reversed() {
                let expected = "refused: code code_wrong (\(left) left)"
                #expect(await guess(wrong(code, by: left + 1), in: taken, on: service) == expected)
                #expect(await guess(wrong(code, by: left + 1), in: free, on: service) == expected)
            }
            #expect(await guess("000000", in: taken, on: service) == "refused: code code_exhausted")

            try session.letPass("1 minute")
            for draft in [taken, free] {
                let current = try await service.signups.reread(draft)
                #expect(await outcome { try await resend(current, on: service) } == "done")
            }
            try await service.deliver()
            // The owner of the account gets one notice an hour.
            #expect(service.mailbox.mails[mails...].map(\.to).tally == ["kim@example.com": 1, "lee@example.com": 2])
            #expect(try session.number(of: "proofs WHERE code_digest IS NULL") == 1)
        }
    }

    // MARK: - Helpers

    @discardableResult
    private func guess(_ code: String, in draft: Draft, on service: TestSignups) async -> String {
        await outcome { try await service.submit(["code": .string(code)], to: "code", of: draft) }
    }

    private func resend(_ draft: Draft, on service: TestSignups) async throws(ResendError) -> Duration {
        try await service.signups.resend(service.signups.flow.step(named: "code")!, of: draft)
    }

    /// Lets a minute pass, requests another code, and reads it from the mail.
    private func anotherCode(for draft: Draft, on service: TestSignups) async throws -> String {
        try session.letPass("1 minute")
        _ = try await resend(service.signups.reread(draft), on: service)
        return try await service.readCode(for: "kim@example.com")
    }

    /// A wrong code: the right one plus the distance.
    private func wrong(_ code: String, by distance: Int = 1) -> String {
        String(format: "%06d", (Int(code)! + distance) % 1_000_000)
    }
}
