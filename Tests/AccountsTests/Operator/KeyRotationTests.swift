import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Key rotation", .freshDatabase, .timeLimit(.minutes(30)))
struct KeyRotationTests {
    private static let new = "new:v2:" + Data(repeating: 9, count: 32).base64EncodedString()
    private static let both = "\(new),\(TestSignups.keys)"
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `only passwords need the old key after the rotation`() async throws {
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
        let rows = ["mails": 1, "authenticators": 1, "tickets": 2]
        #expect(rotated == Operator.Rotated(drafts: 1, rows: rows, passwords: ["test": 2]))

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
            // The commit finds the other draft with this address by the digest of the address.
            let other = try await service.fill(service.start(), through: "code")
            _ = try await service.signups.commit(draft)
            #expect(await outcome { try await service.signups.reread(other) } == "superseded")
            #expect(try await service.signups.reread(lee).account != nil)
            let again = try await Operator(service.signups, name: "mina").rotateKeys()
            #expect(again == Operator.Rotated(passwordsWithoutKey: 2), "the passwords of Kim and Lee")
            let (account, sealed) = try session.query("SELECT account, sealed FROM authenticators").only
                .decode(UUID.self, [UInt8].self)
            #expect(try service.signups.keys.open(sealed, for: .authenticator(of: ID(account))).count == 20)
        }
    }

    @Test func `a committed draft still knows the page to which its person returns`() async throws {
        let page = "https://app.example/orders"
        let draft = try await TestSignups.with { service -> Draft in
            let draft = try await service.signups.remember(.page(page), in: service.readyDraft())
            _ = try await service.signups.commit(draft)
            return draft
        }
        let rotated = try await TestSignups.with(keys: Self.both) { service in
            try await Operator(service.signups, name: "mina").rotateKeys()
        }
        #expect(rotated.drafts == 1)
        try await TestSignups.with(keys: Self.new) { service in
            let committed = try await service.signups.reread(draft)
            #expect(committed.account != nil && committed.values.returnURL == page)
        }
    }

    @Test func `a rotation in two phases loses nothing while the rings of two servers differ`() async throws {
        let old = TestSignups.keys
        let answers = TestSignups.answers(email: "kim@example.com", username: "kim")
        let kim = try await TestSignups.with { try await $0.fill($0.start(), through: "email") }
        func submit(_ step: StepName, at server: TestSignups) async throws {
            let answers = try #require(answers[step])
            _ = try await server.submit(answers, to: step, of: server.signups.reread(kim))
        }

        // The first phase: both servers encrypt with the old key.
        try await Self.withServers("\(old),\(Self.new)", old) { one, other in
            let code = try await other.readCode(for: "kim@example.com")
            _ = try await one.submit(["code": .string(code)], to: "code", of: one.signups.reread(kim))
            try await submit("password", at: other)
        }
        // The second phase: each server encrypts with another key, and both decrypt with either key.
        let (rival, double) = try await Self.withServers(Self.both, "\(old),\(Self.new)") { one, other in
            try await submit("profile", at: one)
            try await submit("profile", at: other)
            #expect(try session.number(of: "leases") == 2, "the name is leased under both keys")
            let rival = try await other.fill(other.start(), through: "password", email: "lee@example.com")
            for server in [one, other] { #expect(await Self.takeName(for: rival, at: server) == Self.taken) }
            let double = try await one.fill(one.start(), through: "code")
            try await submit("contact", at: other)
            let rotated = try await Operator(one.signups, name: "mina").rotateKeys()
            #expect(rotated.unreadable == 0)
            #expect(try session.number(of: "leases") == 1)
            for server in [one, other] { #expect(await Self.takeName(for: rival, at: server) == Self.taken) }
            return (rival, double)
        }
        // The end: one server does not have the old key any more.
        try await Self.withServers(Self.new, Self.both) { one, other in
            try await submit("totp", at: one)
            try await submit("terms", at: other)
            #expect(await Self.takeName(for: rival, at: one) == Self.taken)
            _ = try await one.signups.commit(one.signups.reread(kim))
            #expect(await outcome { try await other.signups.reread(double) } == "superseded")
            #expect(await outcome { try await one.signups.reread(rival) } == "done")
        }
    }

    @Test func `the lease of a name is rotated even if an ended draft has a lease of it under the new key`()
        async throws
    {
        try await TestSignups.with(keys: Self.new) { service in
            let ended = try await service.fill(service.start(), through: "profile", email: "lee@example.com")
            try session.query("UPDATE drafts SET ends_at = now() WHERE id = \(ended.id)")
        }
        let kim = try await TestSignups.with { try await $0.fill($0.start(), through: "profile") }
        #expect(try session.number(of: "leases") == 2)
        try await TestSignups.with(keys: Self.both) { service in
            let rotated = try await Operator(service.signups, name: "mina").rotateKeys()
            #expect(rotated.unreadable == 0)
        }
        #expect(try session.query("SELECT draft FROM leases").only.decode(ID<Draft>.self) == kim.id)
    }

    private static let taken = "refused: username taken"

    private static func takeName(for draft: Draft, at server: TestSignups) async -> String {
        await outcome {
            try await server.submit(["username": "kim"], to: "profile", of: server.signups.reread(draft))
        }
    }

    /// Lends two servers with these key rings on the database of the test.
    private static func withServers<Value>(
        _ one: String,
        _ other: String,
        _ body: (TestSignups, TestSignups) async throws -> Value
    ) async throws -> Value {
        try await TestSignups.with(keys: one) { one in
            try await TestSignups.with(keys: other) { try await body(one, $0) }
        }
    }

    @Test func `each table has a singular and a plural`() {
        #expect(
            Operator.sealedTables.map { "\($0.singular), \($0.plural)" } == [
                "mail, mails", "session, sessions", "address, addresses", "signing key, signing keys",
                "authenticator, authenticators", "photo, photos", "ticket, tickets",
            ]
        )
    }

    @Test func `unreadable rows are counted and left unchanged`() async throws {
        try await TestSignups.with { service in _ = try await service.fill(service.start(), through: "email") }
        let before = try session.dump(except: "audit")
        try await TestSignups.with(keys: Self.new) { service in
            let rotated = try await Operator(service.signups, name: "mina").rotateKeys()
            let expected = Operator.Rotated(unreadable: 3, missingKeys: ["test"])
            #expect(rotated == expected, "the draft, its mail, and the ticket in the mail")
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
            let rotated = try await Operator(service.signups, name: "mina").rotateKeys()
            #expect(rotated == Operator.Rotated(rows: ["tickets": 1], passwords: ["test": 1]))
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

    @Test func `a key whose pepper passwords need must stay, and any other key can be removed`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "password")
            _ = try await service.signups.commit(service.readyDraft(email: "lee@example.com", username: "lee"))
        }
        try await TestSignups.with(keys: Self.both) { service in
            _ = try await service.fill(service.start(), through: "password", email: "park@example.com")
        }
        try await TestSignups.with(keys: "\(Self.third),\(Self.both)") { service in
            let mina = Operator(service.signups, name: "mina")
            let rotated = try await mina.rotateKeys()
            #expect(rotated.passwords == ["test": 2, "new": 1] && rotated.passwordsWithoutKey == 0)
            #expect(mina.removableKeys(after: rotated).isEmpty)
            try session.query("DELETE FROM drafts WHERE account_id IS NULL")
            let again = try await mina.rotateKeys()
            #expect(again.passwords == ["test": 1])
            #expect(mina.removableKeys(after: again) == ["new"])
            try session.query("DELETE FROM credentials")
            let last = try await mina.rotateKeys()
            #expect(last.passwords.isEmpty)
            #expect(mina.removableKeys(after: last) == ["new", "test"])
        }
    }

    @Test func `no key can be removed while a row cannot be decrypted`() async throws {
        try await TestSignups.with { service in _ = try await service.start() }
        try await TestSignups.with(keys: "\(Self.third),\(Self.new)") { service in
            let mina = Operator(service.signups, name: "mina")
            let rotated = try await mina.rotateKeys()
            #expect(rotated.unreadable == 1)
            #expect(mina.removableKeys(after: rotated).isEmpty)
        }
    }

    @Test func `a key rotation moves the data and passwords of a v1 key to a v2 key`() async throws {
        let old = "old:" + Data(repeating: 11, count: 32).base64EncodedString()
        let draft = try await TestSignups.with(keys: old) { service in
            let draft = try await service.fill(service.start(), through: "password")
            let hash = try #require((draft.values["password"] as? PasswordHash)?.phc)
            #expect(hash.keyID == nil, "a server of the previous version must be able to read it")
            #expect(try session.number(of: "drafts WHERE get_byte(sealed, 0) = 1") == 1)
            return draft
        }
        let rotated = try await TestSignups.with(keys: "\(Self.new),\(old)") { service in
            let mina = Operator(service.signups, name: "mina")
            let rotated = try await mina.rotateKeys()
            #expect(mina.removableKeys(after: rotated) == ["old"])
            return rotated
        }
        #expect(rotated == Operator.Rotated(drafts: 1, rows: ["tickets": 1]))
        #expect(try session.number(of: "drafts WHERE get_byte(sealed, 0) = 2") == 1)
        try await TestSignups.with(keys: Self.new) { service in
            let now = try await service.signups.reread(draft)
            #expect(now.values == draft.values)
            let again = try await service.submit(
                ["password": .password("another phrase of mine"), "confirmation": .password("another phrase of mine")],
                to: "password",
                of: now
            )
            #expect((again.values["password"] as? PasswordHash)?.phc.keyID == service.signups.keys.pepper?.id)
        }
    }

    private static let third = "third:v2:" + Data(repeating: 10, count: 32).base64EncodedString()

    /// The key rings during a rotation, and during the next one, while passwords still need the pepper of the oldest
    /// key.
    @Test(arguments: [
        [TestSignups.keys, "\(TestSignups.keys),\(new)", both], [both, "\(both),\(third)", "\(third),\(both)"],
    ])
    func `a rotation in two phases keeps the counts of rate limits`(rings: [String]) async throws {
        var limits = Limits.lavish
        limits.byName[.starts] = Limit(3, per: .seconds(3600))
        func start(_ ring: String) async throws -> String {
            try await TestSignups.with(keys: ring, limits: limits) { service in
                await outcome { try await service.signups.start(in: .english) }
            }
        }
        for ring in rings { #expect(try await start(ring) == "done") }
        // With each of the key rings, a server counts all three starts.
        for ring in rings { #expect(try await start(ring) == "too many: starts") }
        #expect(try session.number(of: "drafts") == 3)
    }
}
