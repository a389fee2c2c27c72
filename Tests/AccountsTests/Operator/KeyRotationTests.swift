import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Key rotation", .freshDatabase, .timeLimit(.minutes(5)))
struct KeyRotationTests {
    private static let new = "new:" + Data(repeating: 9, count: 32).base64EncodedString()
    private static let both = "\(new),\(TestSignups.keys)"
    private let session: Session

    init() throws {
        session = try Session()
    }

    @Test func `nothing needs the old key after the rotation`() async throws {
        let (kim, lee) = try await TestSignups.with { service -> (Draft, Draft) in
            let lee = try await service.fill(
                service.start(),
                through: "contact",
                email: "lee@example.com",
                username: "lee"
            )
            let step = try #require(service.signups.flow.step(named: "totp"))
            let enrolment = try #require(try await service.signups.enrolment(at: step, of: lee))
            let code = TOTP.code(enrolment.secret.base32Bytes, step: TOTP.timeStep(at: enrolment.now))
            let enrolled = try await service.submit(["totp": .string(code)], to: "totp", of: lee)
            _ = try await service.signups.commit(service.submit(["terms": true], to: "terms", of: enrolled))
            try await service.deliver()
            let kim = try await service.readyDraft()
            try await service.signups.handOff(kim)
            return (kim, lee)
        }
        let rotated = try await TestSignups.with(keys: Self.both) { service in
            try await Operator(service.signups, name: "mina").rotateKeys()
        }
        #expect(rotated == Operator.Rotated(drafts: 1, rows: ["mails": 1, "authenticators": 1]))

        try await TestSignups.with(keys: Self.new) { service in
            let draft = try await service.signups.reread(kim)
            #expect(draft.revision == kim.revision && draft.values == kim.values)
            #expect(draft.proofs["code"]?.isProved == true)
            try await service.deliver()
            #expect(service.mailbox.mails.last?.to == "kim@example.com")
            let rival = try await service.fill(
                service.start(),
                through: "password",
                email: "park@example.com",
                username: "park"
            )
            #expect(
                await outcome { try await service.submit(["username": "kim"], to: "profile", of: rival) }
                    == "refused: username taken"
            )
            // The other draft for the address is found by its digest.
            let other = try await service.fill(service.start(), through: "email")
            _ = try await service.signups.commit(draft)
            #expect(await outcome { try await service.signups.reread(other) } == "superseded")
            #expect(try await service.signups.reread(lee).account != nil)
            let again = try await Operator(service.signups, name: "mina").rotateKeys()
            #expect(again == Operator.Rotated())
            let (account, sealed) = try session.query("SELECT account, sealed FROM authenticators").only
                .decode(UUID.self, [UInt8].self)
            #expect(try service.signups.keys.open(sealed, for: account.sqlBytes).count == 20)
        }
    }

    @Test func `unreadable rows are counted and left unchanged`() async throws {
        try await TestSignups.with { service in _ = try await service.fill(service.start(), through: "email") }
        let before = try session.dump(except: "audit")
        try await TestSignups.with(keys: Self.new) { service in
            let rotated = try await Operator(service.signups, name: "mina").rotateKeys()
            #expect(rotated == Operator.Rotated(unreadable: 2))
        }
        #expect(try session.dump(except: "audit") == before)
        let trace: SQL = "SELECT operator || ': ' || act FROM audit"
        #expect(try session.query(trace).only.decode(String.self) == "mina: rotate keys")
    }

    @Test func `an accepted code can be repeated while its key is in the ring`() async throws {
        let (draft, code) = try await TestSignups.with { service -> (Draft, Answers) in
            let draft = try await service.fill(service.start(), through: "code")
            return (draft, ["code": .string(try service.mailbox.code(for: "kim@example.com"))])
        }
        for (keys, expected) in [(Self.both, "done"), (Self.new, "refused: code code_wrong")] {
            try await TestSignups.with(keys: keys) { service in
                _ = try await Operator(service.signups, name: "mina").rotateKeys()
                let draft = try await service.signups.reread(draft)
                #expect(draft.proofs["code"]?.isProved == true)
                #expect(await outcome { try await service.submit(code, to: "code", of: draft) } == expected)
            }
        }
    }

    @Test func `leases and proofs are rotated even if the draft is already sealed with the new key`() async throws {
        let draft = try await TestSignups.with { service in try await service.fill(service.start(), through: "profile")
        }
        try await TestSignups.with(keys: Self.both) { service in
            _ = try await service.submit(["birth_date": "2001-02-28"], to: "contact", of: service.signups.reread(draft))
            #expect(try await Operator(service.signups, name: "mina").rotateKeys() == Operator.Rotated())
        }
        try await TestSignups.with(keys: Self.new) { service in
            #expect(try await service.signups.reread(draft).proofs["code"]?.isProved == true)
            let rival = try await service.fill(service.start(), through: "password", email: "lee@example.com")
            #expect(
                await outcome { try await service.submit(["username": "kim"], to: "profile", of: rival) }
                    == "refused: username taken"
            )
        }
    }
}
