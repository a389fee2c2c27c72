import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Rate limits", .freshDatabase, .timeLimit(.minutes(5)))
struct LimitTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    private func network(_ address: String) throws -> Network { Network(try #require(IPAddress(address))) }

    /// Submits the e-mail step from this network, and returns the outcome as text.
    private func submitAddress(_ address: String, from network: Network, of draft: Draft, on service: TestSignups) async
        -> String
    {
        await outcome {
            try await service.signups.from(network)
                .submit(["email": .string(address)], to: service.signups.flow.steps[0], of: draft)
        }
    }

    // MARK: - Counting

    /// Counts a hit of two subjects, and returns a row if a limit is exceeded. The limit of the first is 2 a minute,
    /// that of the second is `count` an hour.
    private func take(_ count: Int) throws -> Rows {
        try session.query(
            """
            SELECT number, wait
              FROM take_from_limits(ARRAY['\\x01', '\\x02']::bytea[], ARRAY[2, \(count)], '{60, 3600}'::bigint[])
            """
        )
    }

    @Test func `a hit counts against every limit, or against none if one is exceeded`() throws {
        #expect(try take(3).isEmpty && take(3).isEmpty)
        let (number, wait) = try take(3).only.decode(Int.self, Int.self)
        #expect(number == 1 && (20...60).contains(wait))
        #expect(try session.number(of: "limits WHERE cardinality(hits) = 2") == 2)

        try session.letPass("61 seconds")
        #expect(try take(3).isEmpty)
        let (other, longer) = try take(3).only.decode(Int.self, Int.self)
        #expect(other == 2 && (3400...3540).contains(longer))
        #expect(try session.number(of: "limits WHERE cardinality(hits) = 3") == 1)
        #expect(try session.number(of: "limits WHERE cardinality(hits) = 1") == 1)
    }

    @Test func `a subject that is named twice gets two hits`() throws {
        let twice: SQL = """
            SELECT wait FROM take_from_limits(ARRAY['\\x01', '\\x01']::bytea[], '{3, 3}'::bigint[], '{60, 60}'::bigint[])
            """
        #expect(try session.query(twice).isEmpty)
        #expect(try session.number(of: "limits WHERE cardinality(hits) = 2") == 1)
        #expect((20...60).contains(try session.query(twice).only.decode(Int.self)))
        let tooMany: SQL = """
            SELECT wait FROM take_from_limits(ARRAY['\\x02', '\\x02']::bytea[], '{1, 1}'::bigint[], '{60, 60}'::bigint[])
            """
        #expect(try session.query(tooMany).only.decode(Int.self) == 60)
        #expect(try session.number(of: "limits") == 1, "a refused subject gets no row")
    }

    @Test func `hits are counted while the expired row is being deleted`() async throws {
        try session.run("INSERT INTO limits VALUES ('\\x01', '{}', now() - interval '1 hour')")
        let eraser = try DatabaseSession()
        try eraser.run("BEGIN; DELETE FROM limits")
        let conninfo = FreshDatabase.current.conninfo
        async let passed = atOnce(8) { _ in
            try await onThread {
                let session = try DatabaseSession(to: conninfo)
                let take: SQL =
                    "SELECT wait FROM take_from_limits(ARRAY['\\x01']::bytea[], '{1}'::bigint[], '{60}'::bigint[])"
                return try session.query(take).isEmpty
            }
        }
        try await session.wait(
            for: """
                SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                HAVING count(*) = 8
                """
        )
        try eraser.run("COMMIT")
        #expect(try await passed.tally == [true: 1, false: 7])
        #expect(try session.number(of: "limits WHERE cardinality(hits) = 1") == 1)
    }

    @Test func `the window slides, so that no period has more hits than the limit`() throws {
        let take: SQL = "SELECT wait FROM take_from_limits(ARRAY['\\x01']::bytea[], '{2}'::bigint[], '{60}'::bigint[])"
        #expect(try session.query(take).isEmpty)
        try session.letPass("40 seconds")
        #expect(try session.query(take).isEmpty)
        try session.letPass("30 seconds")
        #expect(try session.query(take).isEmpty)
        #expect((5...30).contains(try session.query(take).only.decode(Int.self)))
    }

    @Test func `concurrent hits in any order never exceed the limit`() async throws {
        let passed = try await atOnce(40) { number in
            let (one, other) = number.isMultiple(of: 2) ? ("\\x01", "\\x02") : ("\\x02", "\\x01")
            let take = SQL(
                stringLiteral:
                    "SELECT wait FROM take_from_limits(ARRAY['\(one)', '\(other)']::bytea[], '{7,7}', '{60,60}')"
            )
            return try DatabaseSession().query(take).isEmpty
        }
        #expect(passed.count { $0 } == 7)
        #expect(try await session.deadlocks() == 0)
    }

    // MARK: - Limits of the service

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

    @Test func `one network cannot use up the limits of an address in a day`() async throws {
        try await TestSignups.with(limits: nil) { service in
            let code = try #require(service.signups.flow.step(named: "code"))
            var (mails, guesses): ([String], [String]) = ([], [])
            for hour in 0..<8 {
                for number in 0..<5 {
                    // All networks of the stranger are in one /48 of IPv6.
                    let stranger = try network("2001:db8:7:\(hour)\(number)::1")
                    var draft = try await service.start()
                    mails.append(await submitAddress("kim@example.com", from: stranger, of: draft, on: service))
                    if mails.last != "done" { continue }
                    draft = try await service.signups.reread(draft)
                    let wrong = try await service.readCode(for: "kim@example.com") == "000000" ? "000001" : "000000"
                    for _ in 0..<5 {
                        let guesser = service.signups.from(stranger)
                        guesses.append(
                            await outcome { try await guesser.submit(["code": .string(wrong)], to: code, of: draft) }
                        )
                    }
                }
                try session.letPass("1 hour")
            }
            #expect(mails.tally == ["done": 10, "too many: mails_to_address_from_network_per_day": 30])
            #expect(guesses.count == 50)
            #expect(guesses.tally["too many: guesses_for_address_from_network"] == 25)

            let owner = service.signups.from(try network("192.0.2.1"))
            var draft = try await service.start()
            draft = try await owner.submit(["email": "kim@example.com"], to: service.signups.flow.steps[0], of: draft)
                .draft
            let right = try await service.readCode(for: "kim@example.com")
            #expect(await outcome { try await owner.submit(["code": .string(right)], to: code, of: draft) } == "done")
        }
    }

    @Test func `addresses with different tags share a limit, and the address without a tag has its own`()
        async throws
    {
        let limits = Limits(byName: [.mailsToAddress: Limit(3, per: .seconds(86_400))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            let addresses = ["1", "2", "3", "4"].map { "kim+\($0)@example.com" } + ["Kim@example.com"]
            var outcomes: [String] = []
            for address in addresses {
                let draft = try await service.start()
                outcomes.append(await submitAddress(address, from: try network("192.0.2.1"), of: draft, on: service))
            }
            #expect(outcomes == ["done", "done", "done", "too many: mails_to_address", "done"])
            try await service.deliver()
            // The mails go to the addresses with their tags.
            let recipients = Set(service.mailbox.mails.map(\.to))
            #expect(recipients == Set(addresses.prefix(3) + ["kim@example.com"]))
        }
    }

    @Test func `all mails of the service are limited, equally for every address`() async throws {
        var limits = Limits.lavish
        limits.byName[.mails] = Limit(2, per: .seconds(3600))
        try await TestSignups.with(limits: limits) { service in
            _ = try await service.signups.commit(service.readyDraft(email: "kim@example.com"))
            try session.letPass("1 hour")
            var outcomes: [String] = []
            for (number, name) in ["lee", "han", "kim", "choi"].enumerated() {
                let here = try network("192.0.2.\(number)")
                let draft = try await service.start()
                outcomes.append(await submitAddress("\(name)@example.com", from: here, of: draft, on: service))
            }
            #expect(outcomes == ["done", "done", "too many: mails", "too many: mails"])
            let monitor = Monitor(of: service.signups, version: "1")
            await monitor.refresh()
            let text = monitor.exposition()
            #expect(text.contains("\naccounts_mail_budget_used_ratio 1\n"))
            #expect(text.contains("\naccounts_limits_reached_total{limit=\"mails\"} 2\n"))
            try session.letPass("1 hour")
            await monitor.refresh()
            #expect(monitor.exposition().contains("\naccounts_mail_budget_used_ratio 0\n"))
            #expect(
                await submitAddress("choi@example.com", from: .unknown, of: try await service.start(), on: service)
                    == "done"
            )
        }
    }

    @Test func `one network cannot use up the limit of mails to an address`() async throws {
        try await TestSignups.with(limits: nil) { service in
            let (stranger, owner) = (try network("192.0.2.1"), try network("192.0.2.2"))
            for _ in 0..<5 {
                #expect(
                    await submitAddress("kim@example.com", from: stranger, of: try await service.start(), on: service)
                        == "done"
                )
            }
            let draft = try await service.start()
            #expect(
                await submitAddress("kim@example.com", from: stranger, of: draft, on: service)
                    == "too many: mails_to_address_from_network"
            )
            #expect(try session.number(of: "outbox") == 5)
            // The refused step changed nothing.
            #expect(try await service.signups.reread(draft).revision == 1)
            #expect(await submitAddress("kim@example.com", from: owner, of: draft, on: service) == "done")
            #expect(
                await submitAddress("lee@example.com", from: stranger, of: try await service.start(), on: service)
                    == "done"
            )
        }
    }

    /// The known limit of docs/security.md: a limit that people share tells that others have used it.
    @Test(arguments: [(3, "too many: mails_to_address_from_network"), (5, "too many: mails_to_address")])
    func `a network hears of its own limit first, unless others have caused most of the mails`(
        others: Int,
        refusal: String
    ) async throws {
        let limits = Limits(
            byName: [
                .mailsToAddressFromNetwork: Limit(2, per: .seconds(3600)),
                .mailsToAddress: Limit(6, per: .seconds(86_400)),
            ],
            revisions: 600
        )
        try await TestSignups.with(limits: limits) { service in
            for number in 0..<others {
                let other = try network("192.0.2.\(number)")
                _ = await submitAddress("kim@example.com", from: other, of: try await service.start(), on: service)
            }
            var outcomes: [String] = []
            while outcomes.last == "done" || outcomes.isEmpty {
                let draft = try await service.start()
                let asking = try network("198.51.100.1")
                outcomes.append(await submitAddress("kim@example.com", from: asking, of: draft, on: service))
            }
            #expect(outcomes.last == refusal)
        }
    }

    @Test func `mails to an address are limited in total, whether it is registered or not`() async throws {
        let limits = Limits(byName: [.mailsToAddress: Limit(3, per: .seconds(86_400))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            _ = try await service.signups.commit(service.readyDraft(email: "kim@example.com"))
            try session.letPass("1 day")
            for address in ["kim@example.com", "new@example.com"] {
                var outcomes: [String] = []
                for number in 1...4 {
                    let draft = try await service.start()
                    outcomes.append(
                        await submitAddress(address, from: try network("192.0.2.\(number)"), of: draft, on: service)
                    )
                }
                #expect(outcomes == ["done", "done", "done", "too many: mails_to_address"])
            }
        }
    }

    @Test func `mails from a network are limited over all addresses`() async throws {
        let limits = Limits(byName: [.mailsFromNetwork: Limit(3, per: .seconds(3600))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            let here = try network("192.0.2.1")
            let draft = try await service.start()
            var outcomes: [String] = []
            var current = draft
            for number in 1...4 {
                outcomes.append(await submitAddress("kim\(number)@example.com", from: here, of: current, on: service))
                current = try await service.signups.reread(draft)
            }
            #expect(outcomes == ["done", "done", "done", "too many: mails_from_network"])
            #expect(current.values.json(of: "email") == "kim3@example.com")
        }
    }

    @Test func `switching back to an address has to wait like a resend`() async throws {
        try await TestSignups.with { service in
            var draft = try await service.start()
            for address in ["kim@example.com", "lee@example.com"] {
                draft = try await service.submit(["email": .string(address)], to: "email", of: draft)
            }
            let back = await submitAddress("kim@example.com", from: .unknown, of: draft, on: service)
            #expect(back == "too many: resend")
            try session.letPass("1 minute")
            draft = try await service.signups.reread(draft)
            #expect(await submitAddress("kim@example.com", from: .unknown, of: draft, on: service) == "done")
        }
    }

    @Test func `a waiting mail is replaced by a newer mail to the same address`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            try session.letPass("1 minute")
            let code = try #require(service.signups.flow.step(named: "code"))
            _ = try await service.signups.resend(code, of: service.signups.reread(draft))
            try await service.deliver()
            #expect(service.mailbox.mails.map(\.to) == ["kim@example.com"])
        }
    }

    @Test func `a mail that counts against a limit is sent, even if its draft is cancelled or changes its address`()
        async throws
    {
        try await TestSignups.with { service in
            var draft = try await service.start()
            for address in ["kim@example.com", "lee@example.com"] {
                draft = try await service.submit(["email": .string(address)], to: "email", of: draft)
            }
            draft = try await service.signups.clear(service.signups.flow.steps[0], of: draft).draft
            let other = try await service.fill(service.start(), through: "email", email: "han@example.com")
            try await service.signups.cancel(other)
            try await service.deliver()
            #expect(service.mailbox.mails.map(\.to) == ["kim@example.com", "lee@example.com", "han@example.com"])
        }
    }

    @Test func `the owner of an account gets one notice an hour`() async throws {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft(email: "kim@example.com"))
            try await service.deliver()
            let before = service.mailbox.mails.count
            for _ in 0..<3 { _ = try await service.fill(service.start(), through: "email", email: "kim@example.com") }
            try await service.deliver()
            #expect(service.mailbox.mails.dropFirst(before).map(\.subject) == ["You already have an account at Acme"])
            try session.letPass("1 hour")
            _ = try await service.fill(service.start(), through: "email", email: "kim@example.com")
            try await service.deliver()
            #expect(service.mailbox.mails.count == before + 2)
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

@Suite("IP addresses and networks")
struct NetworkTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("::ffff:192.0.2.1", "192.0.2.1", true),
        ("2001:db8::1", "2001:db8::2", true), ("2001:db8::1", "2001:db8:0:0:ffff::", true),
        ("2001:db8::1", "2001:db8:0:1::1", false), ("fe80::1%eth0", "fe80::2", true), ("::1", "127.0.0.1", false),
    ])
    func `addresses of the same network are equal as networks`(one: String, other: String, isSame: Bool) throws {
        #expect((Network(try #require(IPAddress(one))) == Network(try #require(IPAddress(other)))) == isSame)
    }

    @Test(arguments: ["", "192.0.2", "192.0.2.256", "192.0.2.1:80", "[::1]", "example.com", "1", ":::", "192.0.2.01x"])
    func `a malformed address is refused`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.7", "192.0.2.7", true),
        ("192.0.2.7", "192.0.2.8", false), ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false),
        ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
        ("10.0.0.0/8", "::ffff:10.1.2.3", true),
    ])
    func `a block contains its addresses`(block: String, address: String, isInside: Bool) throws {
        #expect(try #require(IPBlock(block)).contains(try #require(IPAddress(address))) == isInside)
    }

    @Test(arguments: ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8/8", "::/129", "all", "/8"])
    func `a malformed block is refused`(text: String) {
        #expect(IPBlock(text) == nil)
    }
}
