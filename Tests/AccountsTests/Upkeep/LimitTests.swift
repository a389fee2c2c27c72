import TestSupport
import Testing

@testable import Accounts

@Suite("Rate limits", .freshDatabase, .timeLimit(.minutes(30)))
struct LimitTests: LimitSuite {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `the number of started sign-ups is limited per network`() async throws {
        let limits = Limits(byName: [.starts: Limit(3, per: .seconds(600))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            let (here, there) = (try network("192.0.2.1"), try network("192.0.2.2"))
            for _ in 0..<3 { _ = try await service.signups.from(here).start(in: .english) }
            #expect(await outcome { try await service.signups.from(here).start(in: .english) } == "too many: starts")
            #expect(await outcome { try await service.signups.from(there).start(in: .english) } == "done")
            #expect(try session.number(of: "drafts") == 4)
            try session.letPass("10 minutes")
            #expect(await outcome { try await service.signups.from(here).start(in: .english) } == "done")
        }
    }

    @Test func `IPv6 addresses with the same 64-bit prefix are one network`() async throws {
        let limits = Limits(byName: [.starts: Limit(1, per: .seconds(600))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            func start(from address: String) async throws -> String {
                let signups = try service.signups.from(network(address))
                return await outcome { try await signups.start(in: .english) }
            }
            var outcomes: [String] = []
            for address in [
                "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1", "::ffff:192.0.2.1", "192.0.2.1",
            ] {
                outcomes.append(try await start(from: address))
            }
            #expect(outcomes == ["done", "too many: starts", "done", "done", "too many: starts"])
        }
    }

    @Test func `a /56 of IPv6 has four times the limit of a /64, and a /48 sixteen times`() async throws {
        let limits = Limits(byName: [.starts: Limit(1, per: .seconds(600))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            var outcomes: [String] = []
            for block in 0..<5 {
                for subnet in 0..<5 {
                    let group = String(block << 8 | subnet, radix: 16)
                    let here = service.signups.from(try network("2001:db8:7:\(group)::1"))
                    outcomes.append(await outcome { try await here.start(in: .english) })
                }
            }
            let block = Array(repeating: "done", count: 4) + ["too many: starts"]
            let all = Array(repeating: block, count: 4).flatMap(\.self)
            #expect(outcomes == all + Array(repeating: "too many: starts", count: 5))
            // A refused start counts against none of the three block sizes.
            #expect(try session.number(of: "limits WHERE cardinality(hits) = 1") == 16)
            #expect(try session.number(of: "limits WHERE cardinality(hits) = 4") == 4)
            #expect(try session.number(of: "limits WHERE cardinality(hits) = 16") == 1)
            #expect(try session.number(of: "limits") == 21)
            let neighbour = service.signups.from(try network("2001:db8:8::1"))
            #expect(await outcome { try await neighbour.start(in: .english) } == "done")
        }
    }

    @Test func `a refusal names the quota of the block that is used up`() async throws {
        let limits = Limits(byName: [.starts: Limit(1, per: .seconds(600))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            for subnet in 1...4 {
                _ = try await service.signups.from(network("2001:db8:7:\(subnet)::1")).start(in: .english)
            }
            var reached: LimitReached?
            let fifth = service.signups.from(try network("2001:db8:7:5::1"))
            do throws(StartError) {
                _ = try await fifth.start(in: .english)
            } catch {
                guard case .limited(let limit) = error else { throw error }
                reached = limit
            }
            #expect(reached?.name == "starts" && reached?.limit == Limit(4, per: .seconds(600)))
        }
    }

    @Test func `blocks of different sizes with the same address have different subjects`() async throws {
        try await TestSignups.with { service in
            let blocks = service.signups.charges(.starts, of: try network("2001:db8::"))
            let others = try ["0.0.0.0", "::"].flatMap { service.signups.charges(.starts, of: try network($0)) }
            #expect(blocks.count == 3 && others.count == 4)
            #expect(Set((blocks + others).flatMap(\.subjects)).count == 7)
            #expect(service.signups.charges(.starts, of: .unknown).count == 1)
        }
    }

    @Test func `large counts are divided among slots`() async throws {
        #expect([1, 999, 1000, 10_000, 100_000].map { Limit($0, per: .seconds(60)).slots } == [1, 1, 2, 20, 200])
        let limits = Limits(byName: [.mails: Limit(1001, per: .seconds(60))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            let charges = (0..<200).map { _ in service.signups.chargeForAll(.mails) }
            #expect(Set(charges.flatMap(\.subjects)).count == 2)
            #expect(charges.allSatisfy { $0.quota == 500 && $0.limit.count == 1001 })
        }
    }

    @Test func `guesses for an address are limited over all drafts`() async throws {
        let limits = Limits(byName: [.guessesForAddress: Limit(7, per: .seconds(86_400))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            #expect(Limits(byName: [:], revisions: 600)[.guessesForAddress] == Limit(100, per: .seconds(86_400)))
            var outcomes: [String] = []
            for _ in 0..<2 {
                let draft = try await service.fill(service.start(), through: "email")
                let code = try await service.readCode(for: "kim@example.com")
                let wrong = code == "000000" ? "000001" : "000000"
                for _ in 0..<4 {
                    outcomes.append(
                        await outcome { try await service.submit(["code": .string(wrong)], to: "code", of: draft) }
                    )
                }
                if outcomes.count == 8 {
                    // The right code is refused too, until the period is over.
                    let right = await outcome {
                        try await service.submit(["code": .string(code)], to: "code", of: draft)
                    }
                    #expect(right == "too many: guesses_for_address")
                }
            }
            #expect(outcomes.filter { $0 == "too many: guesses_for_address" }.count == 1)
            #expect(try session.number(of: "proofs WHERE attempts = 4") == 1)
            #expect(try session.number(of: "proofs WHERE attempts = 3") == 1)
        }
    }

    @Test func `the number of commits is limited per network`() async throws {
        let limits = Limits(byName: [.commits: Limit(1, per: .seconds(3600))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            let here = service.signups.from(try network("192.0.2.1"))
            let first = try await service.readyDraft(email: "kim@example.com", username: "kim")
            let second = try await service.readyDraft(email: "lee@example.com", username: "lee")
            #expect(await outcome { try await here.commit(first) } == "done")
            #expect(await outcome { try await here.commit(second) } == "too many: commits")
            // Repeating the commit of an account does not count.
            #expect(await outcome { try await here.commit(first) } == "done")
            #expect(try session.number(of: "accounts") == 1)
            try session.letPass("1 hour")
            #expect(await outcome { try await here.commit(second) } == "done")
        }
    }

    @Test func `the usernames that a draft asks for are limited, in checks and submissions together`() async throws {
        let limits = Limits(byName: [.usernameChecks: Limit(3, per: .seconds(3600))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            let rival = try await service.fill(
                service.start(),
                through: "profile",
                email: "lee@example.com",
                username: "taken"
            )
            #expect(rival.values.json(of: "username") == "taken")
            var draft = try await service.fill(service.start(), through: "password")
            let profile = try #require(service.signups.flow.step(named: "profile"))
            func check(_ name: String, _ draft: Draft) async throws(CheckError) -> [Refusal] {
                try await service.signups.check(["username": .string(name)], on: profile, of: draft).refusals
            }
            #expect(try await check("taken", draft) == [Refusal("username", .taken)])
            #expect(try await check("free", draft) == [])
            draft = try await service.submit(["username": "free"], to: "profile", of: draft)
            // The draft's own name does not count, and another one exceeds the limit.
            #expect(try await check("free", draft) == [])
            draft = try await service.submit(["username": "free", "display_name": "Kim"], to: "profile", of: draft)
            #expect(await outcome { try await check("other", draft) } == "too many: username_checks")
            let other: Answers = ["username": "other"]
            #expect(
                await outcome { try await service.submit(other, to: "profile", of: draft) }
                    == "too many: username_checks"
            )
            #expect(try await service.signups.reread(draft).values.json(of: "username") == "free")
        }
    }

    @Test func `a taken name counts as a username check, but not as a mail of the same step`() async throws {
        let flow = """
            flow: test
            version: 1
            steps:
              - name: one
                title: One
                fields:
                  - {name: username, kind: username, identifier: true, label: Name}
                  - {name: email, kind: email, identifier: true, label: Address}
              - name: two
                title: Two
                fields: [{name: code, kind: code, proves: email, label: Code}]
            """
        try await TestSignups.with(flow: flow) { service in
            let answers = { (name: String) -> Answers in ["username": .string(name), "email": "kim@example.com"] }
            _ = try await service.submit(
                ["username": "kim", "email": "lee@example.com"],
                to: "one",
                of: try await service.start()
            )
            try session.run("TRUNCATE limits")
            let draft = try await service.start()
            #expect(
                await outcome { try await service.submit(answers("kim"), to: "one", of: draft) }
                    == "refused: username taken"
            )
            #expect(try session.number(of: "limits") == 2)
            #expect(await outcome { try await service.submit(answers("minji"), to: "one", of: draft) } == "done")
            #expect(try session.number(of: "limits") == 9)
            #expect(try session.number(of: "limits WHERE cardinality(hits) = 2") == 1)

            // Another draft leases the name of this draft. Submitting the name again is refused, but does not count.
            try session.run("DELETE FROM leases")
            _ = try await service.submit(
                ["username": "minji", "email": "park@example.com"],
                to: "one",
                of: try await service.start()
            )
            try session.run("TRUNCATE limits")
            let moved: Answers = ["username": "minji", "email": "choi@example.com"]
            #expect(
                await outcome { try await service.submit(moved, to: "one", of: draft) } == "refused: username taken"
            )
            #expect(try session.number(of: "limits") == 0)
        }
    }

    @Test func `the number of revisions of a draft is limited`() async throws {
        try await TestSignups.with(limits: Limits(byName: [:], revisions: 3)) { service in
            var draft = try await service.start()
            for number in 1...3 {
                draft = try await service.submit(["email": .string("kim\(number)@example.com")], to: "email", of: draft)
            }
            let full = draft
            #expect(
                await outcome { try await service.submit(["email": "a@b.example"], to: "email", of: full) }
                    == "too many: revisions"
            )
            #expect(try await service.signups.reread(draft).revision == 4)
        }
    }

    @Test func `the database contains neither addresses nor networks`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.start()
            #expect(
                await submitAddress("canary@example.com", from: try network("203.0.113.77"), of: draft, on: service)
                    == "done"
            )
            let dump = try session.dump()
            #expect(try session.number(of: "limits") == 8)
            #expect(!dump.contains("canary") && !dump.contains("203.0.113") && !dump.contains("cb00714d"))
        }
    }
}
