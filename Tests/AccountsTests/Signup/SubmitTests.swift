import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Submitting a step", .freshDatabase, .timeLimit(.minutes(30)))
struct SubmitTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    // MARK: - Stored answers

    @Test(arguments: [["username": "lee"], ["username": "lee", "display_name": "", "introduction": nil]] as [Answers])
    func `a submission replaces all answers of its step`(answers: Answers) async throws {
        try await TestSignups.with { service in
            var draft = try await service.fill(service.start(), through: "password")
            draft = try await service.submit(
                ["username": "kim", "display_name": "Kim", "introduction": "Hello."],
                to: "profile",
                of: draft
            )
            #expect(draft.values.json(of: "introduction") == "Hello.")
            draft = try await service.submit(answers, to: "profile", of: draft)
            #expect(draft.values.json(of: "username") == "lee")
            #expect(draft.values.json(of: "display_name") == nil)
            #expect(draft.values.json(of: "introduction") == nil)
            #expect(try await service.signups.reread(draft).values == draft.values)
        }
    }

    @Test func `an empty submission skips an optional step`() async throws {
        try await TestSignups.with(flow: Self.steps(1)) { service in
            let draft = try await service.start()
            #expect(service.signups.progress(of: draft).next?.name == "step1")
            let skipped = try await service.submit([:], to: "step1", of: draft)
            #expect(service.signups.progress(of: skipped).next == nil)
        }
    }

    @Test func `a check of blank answers to an optional step refuses nothing, because a submission skips it`()
        async throws
    {
        let flow = Self.steps(1).replacing("required: false, ", with: "")
        try await TestSignups.with(flow: flow) { service in
            let draft = try await service.start()
            let step = service.signups.flow.steps[0]
            let verdict = try await service.signups.check(["field1": ""], on: step, of: draft)
            #expect(verdict.refusals.isEmpty)
            let skipped = try await service.submit(["field1": ""], to: "step1", of: draft)
            #expect(service.signups.progress(of: skipped).next == nil)
        }
    }

    @Test func `submitting any step writes the missing digest of the address`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try session.run("UPDATE drafts SET email_digest = NULL")
            let phrase = FieldAnswer.password("a pass phrase of mine")
            _ = try await service.submit(["password": phrase, "confirmation": phrase], to: "password", of: draft)
            let digest = service.signups.addressDigests(EmailAddress("kim@example.com")!)[0]
            let stored = try session.query("SELECT email_digest FROM drafts").only.decode([UInt8].self)
            #expect(stored == digest)
        }
    }

    @Test func `a password is stored as its hash`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "password")
            let hash = try #require((draft.values["password"] as? PasswordHash)?.phc)
            #expect(hash.parameters.meetsFloor)
            #expect(draft.values.json(of: "confirmation") == nil)
        }
    }

    // MARK: - Refusals

    @Test(
        arguments: [
            ("email", ["email": "kim"], "refused: email bad_format"),
            ("email", ["email": "kim@example.org", "name": "Kim"], "refused: name unknown_field"),
            ("password", ["password": .password("another pass phrase")], "refused: confirmation required"),
            (
                "password", ["password": .password("short"), "confirmation": .password("short")],
                "refused: password too_short"
            ),
            ("profile", ["username": "admin", "display_name": "Lee"], "refused: username reserved"),
            ("profile", ["display_name": "Lee"], "refused: username required"),
            ("contact", ["birth_date": "2023-02-29"], "refused: birth_date impossible_date"),
            ("terms", ["terms": false, "marketing": true], "refused: terms not_accepted"),
        ] as [(StepName, Answers, String)]
    )
    func `a refused submission changes nothing`(step: StepName, answers: Answers, refusal: String) async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let before = try session.dump()
            #expect(await outcome { try await service.submit(answers, to: step, of: draft) } == refusal)
            #expect(try session.dump() == before)
        }
    }

    @Test func `all refusals are reported together`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "password")
            let answers: Answers = [
                "surname": "Kim", "username": "k", "display_name": .string(String(repeating: "n", count: 51)),
                "introduction": 7,
            ]
            let refusals = """
                refused: surname unknown_field, username too_short, display_name too_long, introduction wrong_type
                """
            #expect(await outcome { try await service.submit(answers, to: "profile", of: draft) } == refusals)
        }
    }

    @Test func `a step is locked until all steps before it are valid`() async throws {
        try await TestSignups.with { service in
            var draft = try await service.start()
            let answers = TestSignups.answers(email: "kim@example.com", username: "kim")
            for step in ["password", "profile", "contact", "terms"] as [StepName] {
                #expect(
                    await outcome { try await service.submit(answers[step]!, to: step, of: draft) }
                        == "locked, next is email"
                )
            }
            draft = try await service.fill(draft, through: "email")
            let password = answers["password"]!
            #expect(
                await outcome { try await service.submit(password, to: "password", of: draft) }
                    == "locked, next is code"
            )
        }
    }

    @Test func `a submission for a given revision is rejected if the draft has another revision`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.start()
            let step = service.signups.flow.steps[0]
            let answers: Answers = ["email": "kim@example.com"]
            let current = try await service.signups.submit(answers, to: step, of: draft, at: 1).draft
            #expect(current.revision == 2)
            let before = try session.dump()
            for (draft, revision) in [(draft, 1), (current, 1), (current, 3)] {
                let ending = await outcome {
                    try await service.signups.submit(["email": "lee@example.com"], to: step, of: draft, at: revision)
                }
                #expect(ending == "stale, the revision is 2")
            }
            #expect(try session.dump() == before)
        }
    }

    @Test func `a submission to a committed draft is rejected`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            _ = try await service.signups.commit(draft)
            let committed = try await service.signups.reread(draft)
            let before = try session.dump()
            for draft in [draft, committed] {
                #expect(
                    await outcome { try await service.submit(["username": "lee"], to: "profile", of: draft) }
                        == "committed"
                )
            }
            #expect(try session.dump() == before)
        }
    }

    @Test func `a submission to a cancelled draft is rejected`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "password")
            try await service.signups.cancel(draft)
            #expect(
                await outcome { try await service.submit(["username": "kim"], to: "profile", of: draft) } == "cancelled"
            )
            #expect(try session.number(of: "leases") == 0)
        }
    }

    // MARK: - Cleared fields

    @Test func `a new address clears the proof of the previous one, and nothing else`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let step = service.signups.flow.steps[0]
            let same = try await service.signups.submit(["email": "KIM@example.com"], to: step, of: draft)
            #expect(same.cleared == [])
            #expect(service.signups.progress(of: same.draft).isReady)

            let changed = try await service.signups.submit(["email": "lee@example.com"], to: step, of: same.draft)
            #expect(changed.cleared == ["code"])
            #expect(service.signups.progress(of: changed.draft).missing == ["code"])
            #expect(service.signups.progress(of: changed.draft).next?.name == "code")
            #expect(changed.draft.values.json(of: "username") == "kim")
        }
    }

    @Test(arguments: ["first.second.third", "first.second.third@example.com"])
    func `a password that equals the new address or its local part is cleared`(password: String) async throws {
        try await TestSignups.with { service in
            var draft = try await service.fill(service.start(), through: "code")
            draft = try await service.submit(
                ["password": .password(password), "confirmation": .password(password)],
                to: "password",
                of: draft
            )
            let changed = try await service.signups.submit(
                ["email": "First.Second.Third@example.com"],
                to: service.signups.flow.steps[0],
                of: draft
            )
            #expect(changed.cleared == ["code", "password"])
            #expect(changed.draft.values.json(of: "password") == nil)
            #expect(
                service.signups.progress(of: changed.draft).missing.prefix(3) == ["code", "password", "confirmation"]
            )
        }
    }

    @Test func `a password that equals the new username is cleared`() async throws {
        try await TestSignups.with { service in
            var draft = try await service.fill(service.start(), through: "code")
            let password = FieldAnswer.password("first.second.third")
            draft = try await service.submit(
                ["password": password, "confirmation": password],
                to: "password",
                of: draft
            )
            let named = try await service.signups.submit(
                ["username": "First.Second.Third"],
                to: #require(service.signups.flow.step(named: "profile")),
                of: draft
            )
            #expect(named.cleared == ["password"])
            #expect(service.signups.progress(of: named.draft).next?.name == "password")
        }
    }

    @Test func `a password whose hash costs more than the current parameters is cleared by a new address`() async throws
    {
        let costly = try HashingPool(parameters: Argon2Parameters(), workers: 1, queue: 8)
        let draft = try await TestSignups.with(hashing: costly) { try await $0.fill($0.start(), through: "password") }
        try await TestSignups.with { service in
            let changed = try await service.signups.submit(
                ["email": "first.second.third@example.com"],
                to: service.signups.flow.steps[0],
                of: draft
            )
            #expect(changed.cleared == ["code", "password"])
        }
        costly.shutdown()
    }

    @Test func `one step may have two addresses, and another step both of their codes`() async throws {
        let flow = """
            flow: two
            version: 1
            steps:
              - name: addresses
                title: {en: Addresses}
                fields:
                  - {name: email, kind: email, identifier: true, label: {en: E-mail}}
                  - {name: backup, kind: email, label: {en: Another}}
              - name: codes
                title: {en: Codes}
                fields:
                  - {name: code, kind: code, proves: email, label: {en: Code}}
                  - {name: backup_code, kind: code, proves: backup, label: {en: Code}}
            """
        try await TestSignups.with(flow: flow) { service in
            var draft = try await service.start()
            let answers: Answers = ["email": "kim@example.com", "backup": "kim@example.org"]
            draft = try await service.submit(answers, to: "addresses", of: draft)
            let code = try await service.readCode(for: "kim@example.com")
            let backup = try await service.readCode(for: "kim@example.org")
            draft = try await service.submit(
                ["code": .string(code), "backup_code": .string(backup)],
                to: "codes",
                of: draft
            )
            #expect(service.signups.progress(of: draft).isReady)
            let cleared = try await service.signups.clear(service.signups.flow.steps[0], of: draft)
            #expect(Set(cleared.cleared) == ["code", "backup_code"])
        }
    }

    // MARK: - Concurrent submissions

    @Test func `fifty concurrently submitted steps are all stored`() async throws {
        try await TestSignups.with(flow: Self.steps(50)) { service in
            let draft = try await service.start()
            let outcomes = try await atOnce(50) { number in
                await outcome {
                    try await service.submit(
                        Answers([.init(FieldName("field\(number + 1)"), .string("answer \(number + 1)"))]),
                        to: StepName("step\(number + 1)"),
                        of: draft
                    )
                }
            }
            #expect(outcomes.tally == ["done": 50])
            let found = try await service.signups.reread(draft)
            for number in 1...50 {
                #expect(found.values.json(of: FieldName("field\(number)")) == .string("answer \(number)"))
            }
            #expect(found.revision == 51)
        }
    }

    @Test func `fifty concurrent writes of one draft cost at most three statements each`() async throws {
        let metrics = Metrics()
        try await TestSignups.with(flow: Self.steps(50), metrics: metrics) { service in
            let draft = try await service.start()
            let before = metrics.executed
            let outcomes = try await atOnce(50) { number in
                await outcome {
                    try await service.submit(
                        Answers([.init(FieldName("field\(number + 1)"), .string("answer"))]),
                        to: StepName("step\(number + 1)"),
                        of: draft
                    )
                }
            }
            #expect(outcomes.tally == ["done": 50])
            // A write that finds the draft changed, the draft, and the write again. Without turns, each write would fail
            // as often as another one wins: 1,275 writes.
            #expect((50...150).contains(metrics.executed - before))
        }
    }

    @Test func `repeated concurrent edits lose no acknowledged answer`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            for round in 1...12 {
                let day = String(format: "2001-02-%02d", round)
                let submissions: [(StepName, Answers)] = [
                    ("profile", ["username": .string("kim\(round)"), "display_name": .string("Kim \(round)")]),
                    ("contact", ["birth_date": .string(day)]),
                    ("terms", ["terms": true, "marketing": .bool(round.isMultiple(of: 2))]),
                    ("email", ["email": "kim@example.com"]),
                ]
                let outcomes = try await atOnce(submissions.count) { number in
                    let (step, answers) = submissions[number]
                    return await outcome { try await service.submit(answers, to: step, of: draft) }
                }
                #expect(outcomes.tally == ["done": 4])
                let values = try await service.signups.reread(draft).values
                #expect(values.json(of: "username") == .string("kim\(round)"))
                #expect(values.json(of: "display_name") == .string("Kim \(round)"))
                #expect(values.json(of: "birth_date") == .string(day))
                #expect(values.json(of: "marketing")?["accepted"] == .bool(round.isMultiple(of: 2)))
            }
            let found = try await service.signups.reread(draft)
            #expect(found.revision == draft.revision + 48)
            #expect(service.signups.progress(of: found).isReady)
            #expect(try session.number(of: "leases") == 1)
        }
    }

    @Test func `a write that lost its connection is not acknowledged`() async throws {
        // The write must wait where the test finds it, until the test ends its connection.
        try await TestSignups.with(timeouts: .all(.seconds(3600))) { service in
            let draft = try await service.readyDraft()
            let before = try session.dump()
            let holder = try DatabaseSession()
            try holder.lockDrafts()
            let submission = Task {
                await outcome { try await service.submit(["birth_date": "1999-09-09"], to: "contact", of: draft) }
            }
            try await session.waitUntilSomebodyIsBlocked()
            try await session.terminateBlockedSessions()
            try holder.releaseDrafts()
            #expect(await submission.value.hasPrefix("database gave no answer"))
            #expect(try session.dump() == before)
            #expect(
                await outcome { try await service.submit(["birth_date": "1999-09-09"], to: "contact", of: draft) }
                    == "done"
            )
        }
    }

    // MARK: - At rest

    @Test func `no table contains personal data of an unfinished draft in plain text`() async throws {
        try await TestSignups.with { service in
            var draft = try await service.fill(
                service.start(),
                email: "canary.address@example.com",
                username: "canary.name"
            )
            draft = try await service.submit(
                ["username": "canary.name", "display_name": "Canary Kim", "introduction": "I sing like a canary."],
                to: "profile",
                of: draft
            )
            let hash = try #require((draft.values["password"] as? PasswordHash)?.phc).rawValue
            let canaries = [
                "canary.address@example.com", "canary.address", "canary.name", "Canary Kim", "sing like", "2001-02-28",
                "a pass phrase of mine", hash, String(hash.suffix(43)),
            ]
            let dump = try session.dump()
            for canary in canaries {
                #expect(!holds(dump, canary), "\(canary)")
            }
            #expect(dump.contains(draft.id.description))

            // The search can find plain text: after the commit, it finds all canaries except the password.
            _ = try await service.signups.commit(draft)
            let afterwards = try session.dump()
            #expect(canaries.filter { holds(afterwards, $0) } == canaries.filter { $0 != "a pass phrase of mine" })
            try session.run(
                "INSERT INTO outbox (id, template, sealed, useless_after) SELECT id, '', 'canary wings', now() FROM drafts"
            )
            #expect(holds(try session.dump(), "canary wings"))
        }
    }

    /// True if the dump contains the text or its base64, in any case, as text or as hexadecimal of a binary column.
    private func holds(_ dump: String, _ text: String) -> Bool {
        let dump = dump.lowercased()
        return [text, text.lowercased(), text.uppercased(), Data(text.utf8).base64EncodedString()].contains { form in
            dump.contains(form.lowercased()) || dump.contains(form.utf8.map { String(format: "%02x", $0) }.joined())
        }
    }

    /// A flow of optional steps with one text field each.
    private static func steps(_ count: Int) -> String {
        let steps = (1...count).map { number in
            """
              - name: step\(number)
                optional: true
                title: {en: Step}
                fields: [{name: field\(number), kind: text, required: false, label: {en: Text}}]
            """
        }
        return "flow: steps\nversion: 1\nsteps:\n" + steps.joined(separator: "\n")
    }
}

extension Metrics {
    /// The number of jobs that were sent to PostgreSQL, each with one statement of a step or one that reads a draft.
    fileprivate var executed: Int {
        Int(groups.family.samples.filter { $0.suffix == "_sum" }.map(\.value).reduce(0, +))
    }
}
