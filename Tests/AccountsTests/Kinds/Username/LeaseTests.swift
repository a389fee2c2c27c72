import TestSupport
import Testing

@testable import Accounts

@Suite("Leasing a name", .freshDatabase, .timeLimit(.minutes(5)))
struct LeaseTests {
    private let session: Session

    init() throws {
        session = try Session()
    }

    @Test func `of fifty drafts that want a name at once one gets it`() async throws {
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

    @Test func `a name that is taken leaves the draft as it was`() async throws {
        try await TestSignups.with(flow: Self.names) { service in
            let (one, other) = (try await service.start(), try await service.start())
            #expect(await take("kim", for: one, on: service) == "done")
            #expect(await take("lee", for: other, on: service) == "done")
            let before = try session.dump(except: "limits")
            #expect(await take("kim", for: other, on: service) == Self.taken)
            #expect(try session.dump(except: "limits") == before)
        }
    }

    @Test func `two drafts that swap their names keep them`() async throws {
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
    func `a name is the same in any case`(name: String) async throws {
        try await TestSignups.with(flow: Self.names) { service in
            let another = try await service.start()
            let draft = try await service.start()
            #expect(await take("kIm", for: draft, on: service) == "done")
            #expect(await take(name, for: another, on: service) == Self.taken)
        }
    }

    @Test func `a draft may take its own name again`() async throws {
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
    func `a name is free again once its draft lets go of it`(release: Release) async throws {
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

    @Test func `a name stays with a draft that somebody works on`() async throws {
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

    @Test func `a name that became an account's is leased no more and not to be had`() async throws {
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

    @Test func `a lease does not help against an account that has the name`() async throws {
        try await TestSignups.with(flow: Self.names) { service in
            let draft = try await service.start()
            #expect(await take("kim", for: draft, on: service) == "done")
            try session.run(
                """
                WITH account AS (
                    INSERT INTO accounts (id, profile, locale, flow)
                    VALUES (gen_random_uuid(), '{}', 'en', 'names@1') RETURNING id
                )
                INSERT INTO identifiers (kind, value, account) SELECT 'username', 'kim', id FROM account
                """
            )
            #expect(try await take("kim", for: service.signups.reread(draft), on: service) == Self.taken)
        }
    }

    private func take(_ name: String, for draft: Draft, on service: TestSignups) async -> String {
        await outcome { try await service.submit(["username": .string(name)], to: "name", of: draft) }
    }

    private static let taken = "refused: username taken"

    /// Asks for a name, and for a note that nobody has to write.
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
