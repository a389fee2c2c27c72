import Foundation
import TestSupport
import Testing

@testable import Accounts

/// Attacks that prepare an account before its owner signs up (Sudhodanan and Paverd, “Pre-hijacked accounts”, USENIX
/// Security 2022), as far as they apply to a sign-up.
@Suite("Pre-hijacking attacks", .freshDatabase, .timeLimit(.minutes(30)))
struct HijackTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `classic: a stranger's draft adds nothing to the account of the owner of the address`()
        async throws
    {
        try await TestSignups.with { service in
            let stranger = try await service.fill(service.start(), through: "email")
            let password: Answers = [
                "password": .password("the stranger's own words"),
                "confirmation": .password("the stranger's own words"),
            ]
            #expect(
                await outcome { try await service.submit(password, to: "password", of: stranger) }
                    == "locked, next is code"
            )
            let account = try await service.signups.commit(service.readyDraft()).account
            #expect(try session.number(of: "credentials") == 1 && session.number(of: "accounts") == 1)
            #expect(account.email == "kim@example.com")
        }
    }

    @Test func `unexpired session: a commit ends every other draft that has proved the address`() async throws {
        try await TestSignups.with { service in
            let (stranger, token) = try await service.signups.start(in: .english)
            _ = try await service.fill(stranger, through: "code")
            _ = try await service.signups.commit(service.readyDraft())
            #expect(await outcome { try await service.signups.find(token) } == "superseded")
        }
    }

    @Test func `unexpired session: a code from before the commit proves nothing after it`() async throws {
        try await TestSignups.with { service in
            let stranger = try await service.fill(service.start(), through: "email")
            let code = try await service.readCode(for: "kim@example.com")
            _ = try await service.signups.commit(service.readyDraft())
            #expect(
                await outcome { try await service.submit(["code": .string(code)], to: "code", of: stranger) }
                    == "refused: code code_wrong (4 left)"
            )
            // A request for another code sends no code either: the owner of the address gets a notice.
            try session.letPass("1 minute")
            let step = try #require(service.signups.flow.step(named: "code"))
            _ = try await service.signups.resend(step, of: service.signups.reread(stranger))
            try await service.deliver()
            let notice = Language.english.messages.alreadyRegistered(
                serviceName: "Acme",
                link: "http://localhost:8080/sign-in"
            )
            #expect(service.mailbox.mails.last?.text == notice.text)
            #expect(try session.number(of: "proofs WHERE code_digest IS NOT NULL") == 0)
        }
    }

    @Test func `trojan identifier: no step can be submitted before the address is proved`() async throws {
        try await TestSignups.with { service in
            let stranger = try await service.fill(service.start(), through: "email")
            for (step, answers) in TestSignups.answers(email: "kim@example.com", username: "trojan")
            where step != "email" {
                #expect(
                    await outcome { try await service.submit(answers, to: step, of: stranger) }
                        == "locked, next is code"
                )
            }
            #expect(try await service.signups.reread(stranger).values.fields == ["email"])
            #expect(try session.number(of: "leases") == 0)
        }
    }

    @Test func `unexpired change: a code for one address never proves another, even after changing back`()
        async throws
    {
        try await TestSignups.with { service in
            var stranger = try await service.fill(service.start(), through: "email", email: "stranger@example.com")
            let ownCode = try await service.readCode(for: "stranger@example.com")
            stranger = try await service.submit(["email": "kim@example.com"], to: "email", of: stranger)
            let guess = await outcome { try await service.submit(["code": .string(ownCode)], to: "code", of: stranger) }
            #expect(guess.hasPrefix("refused: code code_"))
            try session.letPass("1 minute")
            stranger = try await service.submit(
                ["email": "stranger@example.com"],
                to: "email",
                of: service.signups.reread(stranger)
            )
            let again = await outcome { try await service.submit(["code": .string(ownCode)], to: "code", of: stranger) }
            #expect(again.hasPrefix("refused: code code_"))
            #expect(try session.number(of: "proofs WHERE proved_at IS NOT NULL") == 0)
        }
    }

    @Test func `non-verifying provider: an address without our own proof creates no account`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            // Removes the proof, as if only another system had verified the address.
            try session.run("UPDATE proofs SET proved_at = NULL")
            #expect(await outcome { try await service.signups.commit(draft) } != "done")
            #expect(try session.number(of: "accounts") == 0)
        }
    }

    @Test func `a thousand drafts of a stranger do not block the owner of an address`() async throws {
        let starts = Limit(2000, per: .seconds(600))
        try await TestSignups.with(limits: Limits(byName: [.starts: starts], revisions: 600)) { service in
            let address = try #require(IPAddress("192.0.2.1"))
            let outcomes = try await atOnce(1000) { _ in
                let draft = try await service.start()
                return await outcome {
                    try await service.signups.from(Network(address))
                        .submit(["email": "kim@example.com"], to: service.signups.flow.steps[0], of: draft)
                }
            }
            #expect(outcomes.tally == ["done": 5, "too many: mails_to_address_from_network": 995])
            let owner = try await service.readyDraft()
            #expect(await outcome { try await service.signups.commit(owner) } == "done")
            #expect(try session.number(of: "proofs WHERE code_digest IS NOT NULL") == 0)
        }
    }
}
