import TestSupport
import Testing

@testable import Accounts

/// What holds of every row after any mixture of acts.
@Suite("Invariants", .freshDatabase, .timeLimit(.minutes(5)))
struct InvariantsTests {
    private let session: Session

    init() throws {
        session = try Session()
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `random acts at once leave only whole accounts`(seed: UInt64) async throws {
        try await TestSignups.with(connections: 9) { service in
            let crowd = Crowd(try await atOnce(12) { _ in try await service.signups.start(in: .english).token })
            let endings = try await atOnce(4) { task in
                var actor = Actor(
                    service: service,
                    crowd: crowd,
                    random: SplitMix64(state: seed &* 1000 + UInt64(task))
                )
                var endings: [String] = []
                for _ in 0..<100 { endings.append(try await actor.act()) }
                return endings
            }.flatMap(\.self)

            let accidents = ["database", "contended", "unreadable", "unknown", "hashing"]
            #expect(endings.filter { ending in accidents.contains { ending.contains($0) } } == [])
            try await service.deliver()
            try expectInvariants(acknowledged: await crowd.accounts)
        }
        #expect(try await session.deadlocks() == 0)
    }

    private func expectInvariants(acknowledged: Set<ID<Account>>) throws {
        let accounts = try session.query("SELECT id FROM accounts").map { try $0.decode(ID<Account>.self) }
        #expect(!accounts.isEmpty)
        #expect(Set(accounts) == acknowledged)

        let broken: [(String, SQL)] = [
            ("an address with two accounts", "SELECT FROM accounts GROUP BY email HAVING count(*) > 1"),
            ("a name with two accounts", "SELECT FROM accounts GROUP BY username HAVING count(*) > 1"),
            (
                "an account without exactly its identifiers",
                """
                SELECT FROM accounts
                 WHERE ARRAY['email ' || email, 'username ' || username] IS DISTINCT FROM
                       (SELECT array_agg(kind || ' ' || value ORDER BY kind) FROM identifiers WHERE account = accounts.id)
                """
            ),
            (
                "an account without a proved address",
                "SELECT FROM accounts WHERE email_proved_at IS NULL OR email IS NULL"
            ),
            (
                "an account without one password",
                "SELECT FROM accounts WHERE 1 <> (SELECT count(*) FROM credentials WHERE account = accounts.id)"
            ),
            (
                "an account without accepted terms",
                """
                SELECT FROM accounts
                 WHERE NOT EXISTS (SELECT FROM consents WHERE account = accounts.id AND field = 'terms' AND accepted)
                """
            ),
            (
                "an account without its one draft",
                "SELECT FROM accounts WHERE 1 <> (SELECT count(*) FROM drafts WHERE account_id = accounts.id)"
            ),
            (
                "a committed draft without its account, or with values",
                """
                SELECT FROM drafts
                 WHERE account_id IS NOT NULL
                   AND (sealed <> '' OR email_digest IS NOT NULL OR account_id NOT IN (SELECT id FROM accounts))
                """
            ),
            (
                "a proof or lease of a draft that ended",
                """
                SELECT FROM (SELECT draft FROM proofs UNION ALL SELECT draft FROM leases) AS held
                 WHERE draft NOT IN (SELECT id FROM drafts WHERE account_id IS NULL)
                """
            ),
            (
                "an ending of a draft that lives",
                "SELECT FROM endings WHERE token_hash IN (SELECT token_hash FROM drafts)"
            ),
            ("a draft with two names", "SELECT FROM leases GROUP BY draft HAVING count(*) > 1"),
            ("a sixth guess", "SELECT FROM proofs WHERE attempts > 5 OR failures NOT BETWEEN 0 AND 25"),
            (
                "an account that nobody was told of, or twice",
                """
                SELECT WHERE (SELECT count(*) FROM accounts)
                          <> (SELECT count(*) FROM outbox WHERE template = 'account-created' AND state = 'delivered')
                """
            ),
        ]
        for (what, rows) in broken {
            #expect(try session.query(rows).count == 0, "\(what)")
        }
        for row in try session.query("SELECT secret FROM credentials") {
            #expect(try PHCString(row.decode(String.self)).parameters.meetsFloor)
        }
    }
}

/// The drafts on which several act at once, and the accounts they were told of.
private actor Crowd {
    private(set) var tokens: [Token]
    private(set) var accounts: Set<ID<Account>> = []

    init(_ tokens: [Token]) {
        self.tokens = tokens
    }

    func hear(of account: ID<Account>) {
        accounts.insert(account)
    }

    func replace(at index: Int, with token: Token) {
        tokens[index] = token
    }
}

/// Somebody who does one random thing after another. People share three addresses and four names.
private struct Actor {
    let service: TestSignups
    let crowd: Crowd
    var random: SplitMix64

    /// How the act ended.
    mutating func act() async throws -> String {
        let index = Int.random(in: 0..<12, using: &random)
        let (signups, token) = (service.signups, await crowd.tokens[index])
        let draft: Draft
        do throws(FindError) {
            draft = try await signups.find(token)
        } catch {
            // Whoever lost a draft begins again.
            await crowd.replace(at: index, with: try await signups.start(in: .english).token)
            return error.inWords
        }
        if draft.account != nil, Int.random(in: 0..<3, using: &random) == 0 {
            await crowd.replace(at: index, with: try await signups.start(in: .english).token)
        }
        let steps = signups.flow.steps
        let step = steps.randomElement(using: &random)!
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<3: return await outcome { try await signups.cancel(draft) }
        case 3..<8: return await outcome { try await signups.clear(step, of: draft) }
        case 8..<12: return await outcome { try await signups.resend(steps[1], of: draft) }
        case 12..<20: return await commit(draft)
        case 20..<35:
            let answers = try await answers(to: step, of: draft)
            return await outcome { try await service.submit(answers, to: step.name, of: draft) }
        default:
            guard let next = signups.progress(of: draft).next else { return await commit(draft) }
            let answers = try await answers(to: next, of: draft)
            return await outcome { try await service.submit(answers, to: next.name, of: draft) }
        }
    }

    private func commit(_ draft: Draft) async -> String {
        await outcome {
            let account = try await service.signups.commit(draft).account
            await crowd.hear(of: account.id)
        }
    }

    private mutating func answers(to step: Step, of draft: Draft) async throws -> Answers {
        let address = "\(["kim", "lee", "park"].randomElement(using: &random)!)@example.com"
        let name = ["kim", "lee", "park", "choi"].randomElement(using: &random)!
        guard step.name == "code" else { return TestSignups.answers(email: address, username: name)[step.name]! }
        let isGuess = Int.random(in: 0..<4, using: &random) == 0
        return ["code": .string(isGuess ? "000000" : try await code(for: draft) ?? "000000")]
    }

    /// The code that was mailed for this very draft, if it is still good. Several drafts share an address.
    private func code(for draft: Draft) async throws -> String? {
        guard let address = draft.values.address(in: "email"), let proof = draft.proofs["code"] else { return nil }
        try await service.deliver()
        let rows = try await service.database.read("SELECT code_digest FROM proofs WHERE draft = \(draft.id)")
        guard let digest = try rows.first?.decode([UInt8]?.self) else { return nil }
        let codes = service.mailbox.mails.filter { $0.to == address.rawValue }.compactMap { Mailbox.code(in: $0.text) }
        return codes.first { code in
            service.signups.codeDigests(code, of: draft.id, address: address, generation: proof.generation)[0] == digest
        }
    }
}

/// A small generator of which the same seed always makes the same numbers (Steele, Lea and Flood, 2014).
private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
