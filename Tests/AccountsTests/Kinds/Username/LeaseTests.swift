import TestSupport
import Testing

@testable import Accounts

@Suite("Username leases", .freshDatabase, .timeLimit(.minutes(30)))
struct LeaseTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `one of fifty drafts that submit the same name concurrently gets the lease`() async throws {
        try await TestSignups.with(flow: Self.names, connections: 11) { service in
            let drafts = try await atOnce(50) { _ in try await service.start() }
            let outcomes = try await atOnce(50) { await take("kim", for: drafts[$0], on: service) }
            #expect(outcomes.tally == ["done": 1, Self.taken: 49])
            let winner = drafts[try #require(outcomes.firstIndex(of: "done"))]
            #expect(try session.query("SELECT draft FROM leases").only.decode(ID<Draft>.self) == winner.id)
            for draft in drafts {
                let name = try await service.signups.reread(draft).values.json(of: "username")
                #expect(name == (draft.id == winner.id ? "kim" : nil))
            }
        }
    }

    @Test func `a submission with a taken name changes nothing`() async throws {
        try await TestSignups.with(flow: Self.names) { service in
            let (one, other) = (try await service.start(), try await service.start())
            #expect(await take("kim", for: one, on: service) == "done")
            #expect(await take("lee", for: other, on: service) == "done")
            let before = try session.dump(except: "limits")
            #expect(await take("kim", for: other, on: service) == Self.taken)
            #expect(try session.dump(except: "limits") == before)
        }
    }

    @Test func `two drafts that try to swap their names keep their own`() async throws {
        try await TestSignups.with(flow: Self.names) { service in
            let (one, other) = (try await service.start(), try await service.start())
            #expect(await take("kim", for: one, on: service) == "done")
            #expect(await take("lee", for: other, on: service) == "done")
            for _ in 0..<10 {
                let outcomes = try await atOnce(2) { number in
                    await take(number == 0 ? "lee" : "kim", for: number == 0 ? one : other, on: service)
                }
                #expect(outcomes == [Self.taken, Self.taken])
            }
            #expect(try session.number(of: "leases") == 2)
        }
    }

    @Test(arguments: ["kim", "KIM", "Kim"])
    func `names that differ only in case are the same`(name: String) async throws {
        try await TestSignups.with(flow: Self.names) { service in
            let another = try await service.start()
            let draft = try await service.start()
            #expect(await take("kIm", for: draft, on: service) == "done")
            #expect(await take(name, for: another, on: service) == Self.taken)
        }
    }

    @Test func `a draft may submit its own name again`() async throws {
        try await TestSignups.with(flow: Self.names) { service in
            let another = try await service.start()
            let draft = try await service.start()
            for _ in 0..<3 { #expect(await take("kim", for: draft, on: service) == "done") }
            #expect(try session.number(of: "leases") == 1)
            #expect(await take("kim", for: another, on: service) == Self.taken)
        }
    }

    enum Release: CaseIterable {
        case change, clear, cancel, expiry
    }

    @Test(arguments: Release.allCases)
    func `a name is free when its draft changes or clears it, is cancelled, or expires`(release: Release) async throws {
        try await TestSignups.with(flow: Self.names) { service in
            let another = try await service.start()
            let draft = try await service.start()
            #expect(await take("kim", for: draft, on: service) == "done")
            #expect(await take("kim", for: another, on: service) == Self.taken)
            switch release {
            case .change: #expect(await take("lee", for: draft, on: service) == "done")
            case .clear: _ = try await service.signups.clear(service.signups.flow.steps[0], of: draft)
            case .cancel: try await service.signups.cancel(draft)
            case .expiry: try session.letPass("1 day")
            }
            let next = try await service.start()
            #expect(await take("kim", for: next, on: service) == "done")
            #expect(
                try session.query(
                    "SELECT draft FROM leases WHERE value = (SELECT value FROM leases WHERE draft = \(next.id))"
                )
                .count == 1
            )
            #expect(await take("kim", for: draft, on: service) != "done")
        }
    }

    @Test func `each change of a draft extends its lease`() async throws {
        try await TestSignups.with(flow: Self.names) { service in
            let draft = try await service.start()
            #expect(await take("kim", for: draft, on: service) == "done")
            for _ in 0..<4 {
                try session.letPass("23 hours")
                _ = try await service.submit(["note": "Wait for me."], to: "note", of: service.signups.reread(draft))
            }
            let another = try await service.start()
            #expect(await take("kim", for: another, on: service) == Self.taken)
        }
    }

    @Test func `a commit ends the lease, and the name of an account cannot be leased`() async throws {
        try await TestSignups.with(flow: Self.names) { service in
            let another = try await service.start()
            let draft = try await service.start()
            #expect(await take("kim", for: draft, on: service) == "done")
            #expect(try await service.signups.commit(service.signups.reread(draft)).account.username == "kim")
            #expect(try session.number(of: "leases") == 0)
            #expect(await take("Kim", for: another, on: service) == Self.taken)
            #expect(try session.number(of: "leases") == 0)
        }
    }

    @Test func `a leased name is refused if an account has it`() async throws {
        try await TestSignups.with(flow: Self.names) { service in
            let draft = try await service.start()
            #expect(await take("kim", for: draft, on: service) == "done")
            try insertAccount(named: "kim")
            #expect(try await take("kim", for: service.signups.reread(draft), on: service) == Self.taken)
        }
    }

    @Test func `whoever has lost a sign-up gets its name again after proving the same address`() async throws {
        try await TestSignups.with { service in
            let lost = try await service.fill(service.start(), through: "profile")
            let stranger = try await service.fill(service.start(), through: "password", email: "lee@example.com")
            #expect(await take("kim", for: stranger, to: "profile", on: service) == Self.taken)
            let unproved = try await service.fill(service.start(), through: "email")
            #expect(await take("kim", for: unproved, to: "profile", on: service) == "locked, next is code")
            let next = try await service.fill(service.start(), through: "password")
            #expect(try await !isRefused("kim", for: next, on: service))
            #expect(await take("kim", for: next, to: "profile", on: service) == "done")
            #expect(await outcome { try await service.signups.reread(lost) } == "continued-elsewhere")
            #expect(try await isRefused("kim", for: stranger, on: service))
            var ready = try await service.signups.reread(next)
            for step: StepName in ["contact", "totp", "terms"] {
                let answers = TestSignups.answers(email: "kim@example.com", username: "kim")[step]!
                ready = try await service.submit(answers, to: step, of: ready)
            }
            #expect(try await service.signups.commit(ready).account.username == "kim")
        }
    }

    @Test func `a lost sign-up stays if the name belongs to an account by now`() async throws {
        try await TestSignups.with { service in
            let lost = try await service.fill(service.start(), through: "profile")
            try insertAccount(named: "kim")
            let next = try await service.fill(service.start(), through: "password")
            #expect(await take("kim", for: next, to: "profile", on: service) == Self.taken)
            #expect(await outcome { try await service.signups.reread(lost) } == "done")
        }
    }

    // MARK: - A step with an address, too

    @Test func `a name that another draft gets at the same moment costs no mail`() async throws {
        try await TestSignups.with(flow: Self.namesWithAddresses) { service in
            let (draft, other) = (try await service.start(), try await service.start())
            let digest = service.signups.nameDigests("kim", UsernameField.name)[0]
            let holder = try DatabaseSession()
            try holder.run("BEGIN")
            try holder.query(
                """
                INSERT INTO leases (kind, value, draft, until)
                VALUES ('username', \(digest), \(other.id), now() + interval '1 day')
                """
            )
            async let lost = enter("kim@example.com", "kim", for: draft, on: service)
            try await session.waitUntilSomebodyIsBlocked()
            try holder.run("COMMIT")
            let first = await lost
            #expect(first == Self.taken)
            // The limit of one code a minute would refuse this.
            #expect(await enter("kim@example.com", "lee", for: draft, on: service) == "done")
            #expect(try session.number(of: "outbox") == 1)
        }
    }

    @Test func `a step that a limit of mails refuses leases no name, and keeps the one of the draft`() async throws {
        let limits = Limits(byName: [.mailsToAddress: Limit(1, per: .seconds(86_400))], revisions: 600)
        try await TestSignups.with(flow: Self.namesWithAddresses, limits: limits) { service in
            let (draft, other) = (try await service.start(), try await service.start())
            #expect(await enter("kim@example.com", "kim", for: draft, on: service) == "done")
            let refused = await enter("kim@example.com", "lee", for: other, on: service)
            #expect(refused == "too many: mails_to_address")
            #expect(try session.number(of: "leases") == 1)
            #expect(await enter("lee@example.com", "lee", for: other, on: service) == "done")
            let again = await enter("lee@example.com", "kim", for: draft, on: service)
            #expect(again == "too many: mails_to_address")
            #expect(try session.number(of: "leases") == 2)
        }
    }

    private func enter(_ address: String, _ name: String, for draft: Draft, on service: TestSignups) async -> String {
        await outcome {
            let now = try await service.signups.reread(draft)
            return try await service.submit(
                ["email": .string(address), "username": .string(name)],
                to: "person",
                of: now
            )
        }
    }

    private func insertAccount(named name: String) throws {
        try session.query(
            """
            WITH account AS (
                INSERT INTO accounts (id, profile, locale, flow)
                VALUES (gen_random_uuid(), '{}', 'en', 'names@1') RETURNING id
            )
            INSERT INTO identifiers (kind, value, account) SELECT 'username', \(name), id FROM account
            """
        )
    }

    /// Whether the live check of the name refuses it.
    private func isRefused(_ name: String, for draft: Draft, on service: TestSignups) async throws -> Bool {
        let profile = try #require(service.signups.flow.step(named: "profile"))
        return try await !service.signups.check(["username": .string(name)], on: profile, of: draft).refusals.isEmpty
    }

    private func take(
        _ name: String,
        for draft: Draft,
        to step: StepName = "name",
        on service: TestSignups
    ) async -> String {
        await outcome { try await service.submit(["username": .string(name)], to: step, of: draft) }
    }

    private static let taken = "refused: username taken"

    /// A flow that asks for an address and a username in one step.
    private static let namesWithAddresses = """
        flow: names
        version: 1
        steps:
          - name: person
            title: {en: Person}
            fields:
              - {name: email, kind: email, identifier: true, label: {en: Address}}
              - {name: username, kind: username, identifier: true, label: {en: Name}}
          - name: code
            title: {en: Code}
            fields: [{name: code, kind: code, proves: email, label: {en: Code}}]
        """

    /// A flow with a required username and an optional note.
    private static let names = """
        flow: names
        version: 1
        steps:
          - name: name
            title: {en: Name}
            fields: [{name: username, kind: username, identifier: true, label: {en: Name}}]
          - name: note
            optional: true
            title: {en: Note}
            fields: [{name: note, kind: text, required: false, label: {en: Note}}]
        """
}
