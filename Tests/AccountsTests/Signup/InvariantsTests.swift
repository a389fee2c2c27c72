import TestSupport
import Testing

@testable import Accounts

/// The invariants that the rows meet after any sequence of actions.
@Suite("Invariants", .freshDatabase, .timeLimit(.minutes(30)))
struct InvariantsTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `concurrent random acts preserve all invariants`(seed: UInt64) async throws {
        try await TestSignups.with(connections: 9) { service in
            let drafts = SharedDrafts(try await atOnce(12) { _ in try await service.signups.start(in: .english).token })
            let outcomes = try await atOnce(4) { task in
                var user = RandomUser(
                    service: service,
                    drafts: drafts,
                    random: SplitMix64(state: seed &* 1000 + UInt64(task))
                )
                var outcomes: [String] = []
                for _ in 0..<100 { outcomes.append(try await user.act()) }
                return outcomes
            }.flatMap(\.self)

            let unexpected = ["database", "contended", "unreadable", "unknown", "hashing"]
            #expect(outcomes.filter { outcome in unexpected.contains { outcome.contains($0) } } == [])
            try await service.deliver()
            try expectInvariants(acknowledged: await drafts.accounts)
        }
        #expect(try await session.deadlocks() == 0)
    }

    private func expectInvariants(acknowledged: Set<ID<Account>>) throws {
        let accounts = try session.query("SELECT id FROM accounts").map { try $0.decode(ID<Account>.self) }
        #expect(!accounts.isEmpty)
        #expect(Set(accounts) == acknowledged)

        let violations: [(String, SQL)] = [
            ("an address with two accounts", "SELECT FROM accounts GROUP BY email HAVING count(*) > 1"),
            ("a name with two accounts", "SELECT FROM accounts GROUP BY username HAVING count(*) > 1"),
            (
                "an account whose identifiers differ",
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
                "a proof or lease of a draft that does not exist or is committed",
                """
                SELECT FROM (SELECT draft FROM proofs UNION ALL SELECT draft FROM leases) AS held
                 WHERE draft NOT IN (SELECT id FROM drafts WHERE account_id IS NULL)
                """
            ),
            (
                "an ending of a draft that still exists",
                "SELECT FROM endings WHERE token_hash IN (SELECT token_hash FROM drafts)"
            ),
            ("a draft with two leases", "SELECT FROM leases GROUP BY draft HAVING count(*) > 1"),
            ("more guesses than allowed", "SELECT FROM proofs WHERE attempts > 5 OR failures NOT BETWEEN 0 AND 25"),
            (
                "an account without exactly one delivered mail",
                """
                SELECT WHERE (SELECT count(*) FROM accounts)
                          <> (SELECT count(*) FROM outbox WHERE template = 'account-created' AND state = 'delivered')
                """
            ),
        ]
        for (what, rows) in violations {
            #expect(try session.query(rows).count == 0, "\(what)")
        }
        for row in try session.query("SELECT secret FROM credentials") {
            #expect(try PHCString(row.decode(String.self)).parameters.meetsFloor)
        }
    }
}

/// The drafts that several users change concurrently, and the accounts from acknowledged commits.
private actor SharedDrafts {
    private(set) var tokens: [Token<Draft>]
    private(set) var accounts: Set<ID<Account>> = []

    init(_ tokens: [Token<Draft>]) {
        self.tokens = tokens
    }

    func record(_ account: ID<Account>) {
        accounts.insert(account)
    }

    func replace(at index: Int, with token: Token<Draft>) {
        tokens[index] = token
    }
}

/// A user that performs random actions. All users share three addresses and four names.
private struct RandomUser {
    let service: TestSignups
    let drafts: SharedDrafts
    var random: SplitMix64

    /// Performs one action, and returns its outcome.
    mutating func act() async throws -> String {
        let index = Int.random(in: 0..<12, using: &random)
        let (signups, token) = (service.signups, await drafts.tokens[index])
        let draft: Draft
        do throws(FindError) {
            draft = try await signups.find(token)
        } catch {
            // A user without a draft starts another sign-up.
            await drafts.replace(at: index, with: try await signups.start(in: .english).token)
            return error.summary
        }
        if draft.account != nil, Int.random(in: 0..<3, using: &random) == 0 {
            await drafts.replace(at: index, with: try await signups.start(in: .english).token)
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
            await drafts.record(account.id)
        }
    }

    private mutating func answers(to step: Step, of draft: Draft) async throws -> Answers {
        let address = "\(["kim", "lee", "park"].randomElement(using: &random)!)@example.com"
        let name = ["kim", "lee", "park", "choi"].randomElement(using: &random)!
        guard step.name == "code" else { return TestSignups.answers(email: address, username: name)[step.name]! }
        let isGuess = Int.random(in: 0..<4, using: &random) == 0
        return ["code": .string(isGuess ? "000000" : try await code(for: draft) ?? "000000")]
    }

    /// The last code that was mailed for this draft; nil if there is none, or if it was withdrawn. The code is found by
    /// its digest, because other drafts may use the same address.
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

/// A small generator that returns the same numbers for the same seed (Steele, Lea and Flood, 2014).
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
