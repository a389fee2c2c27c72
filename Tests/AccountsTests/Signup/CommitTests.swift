import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Committing a sign-up", .freshDatabase, .timeLimit(.minutes(30)))
struct CommitTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    // MARK: - Written rows

    @Test func `a commit writes the account, its identifiers and its profile`() async throws {
        try await TestSignups.with { service in
            var draft = try await service.readyDraft()
            draft = try await service.submit(["terms": true, "marketing": false], to: "terms", of: draft)
            let provedAt = try session.query("SELECT proved_at FROM proofs").only.decode(Date.self)
            let commit = try await service.signups.commit(draft)
            let (account, isNew) = (commit.account, commit.isNew)
            #expect(isNew)
            #expect(account.email == "kim@example.com")
            #expect(account.username == "kim")
            #expect(account.profile == ["birth_date": "2001-02-28", "display_name": "Kim"])

            let row = try session.query("SELECT id, email, email_proved_at, username, locale, flow FROM accounts")
            #expect(row.count == 1)
            let (id, email, emailProvedAt, username, locale, flow) = try row.only.decode(
                ID<Account>.self,
                String.self,
                Date.self,
                String.self,
                String.self,
                String.self
            )
            #expect((id, email, username) == (account.id, "kim@example.com", "kim"))
            #expect((locale, flow) == ("en", "default@1"))
            #expect(emailProvedAt == provedAt)

            let identifiers = try session.query("SELECT kind, value, account FROM identifiers ORDER BY kind")
                .map { try $0.decode(String.self, String.self, ID<Account>.self) }
            #expect(identifiers.map { "\($0.0) \($0.1)" } == ["email kim@example.com", "username kim"])
            #expect(identifiers.allSatisfy { $0.2 == account.id })
        }
    }

    @Test func `the credential is the hash of the password, which meets the floor`() async throws {
        try await TestSignups.with { service in
            let account = try await service.signups.commit(service.readyDraft()).account
            let rows = try session.query("SELECT account, kind, secret FROM credentials")
            #expect(rows.count == 1)
            let (owner, kind, secret) = try rows.only.decode(ID<Account>.self, String.self, String.self)
            #expect((owner, kind) == (account.id, "password"))
            let hash = try PHCString(secret)
            #expect(hash.parameters.meetsFloor)
            guard case .secret(let password) = FieldAnswer.password("a pass phrase of mine") else {
                Issue.record("FieldAnswer.password must create a secret")
                return
            }
            let pepper = try service.signups.keys.pepper(of: hash)
            #expect(try await service.signups.hashing.verify(password, against: hash, pepper: pepper))
        }
    }

    @Test func `a changed password replaces the hash`() async throws {
        try await TestSignups.with { service in
            let answers: Answers = [
                "password": .password("another pass phrase"), "confirmation": .password("another pass phrase"),
            ]
            let draft = try await service.submit(answers, to: "password", of: service.readyDraft())
            _ = try await service.signups.commit(draft)
            let hash = try PHCString(session.query("SELECT secret FROM credentials").only.decode(String.self))
            let hashing = service.signups.hashing
            let pepper = try service.signups.keys.pepper(of: hash)
            for (text, isRight) in [("another pass phrase", true), ("a pass phrase of mine", false)] {
                #expect(try await hashing.verify(SharedSecret(text: text), against: hash, pepper: pepper) == isRight)
            }
        }
    }

    @Test(arguments: Language.builtIn)
    func `a consent has its document, its version, its language and its time`(language: Language) async throws {
        try await TestSignups.with { service in
            var draft = try await service.fill(service.start(in: language))
            draft = try await service.submit(["terms": true, "marketing": false], to: "terms", of: draft)
            let givenAt = draft.values.json(of: "terms")?["at"]?.string
            let account = try await service.signups.commit(draft).account
            let rows = try session.query(
                """
                SELECT field, account, accepted, version, document, locale, given_at FROM consents ORDER BY field DESC
                """
            )
            #expect(rows.count == 2)
            for (row, field) in zip(rows, ["terms", "marketing"] as [FieldName]) {
                let (name, owner, isAccepted, version, document, locale, date) = try row.decode(
                    String.self,
                    ID<Account>.self,
                    Bool.self,
                    String.self,
                    [UInt8].self,
                    String.self,
                    Date.self
                )
                #expect((FieldName(name), owner) == (field, account.id))
                #expect((isAccepted, version, locale) == (field == "terms", "2026-11", language.tag))
                let kind = try #require(service.signups.flow.field(named: field)?.kind as? ConsentField)
                #expect(try session.isTrue("\(document) = sha256(convert_to(\(kind.document(in: language)), 'UTF8'))"))
                if field == "terms" { #expect(date.timestamp == givenAt) }
                #expect(date <= account.createdAt)
            }
        }
    }

    @Test func `a commit removes everything of the draft except the reference to the account`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let id = try await service.signups.commit(draft).account.id
            #expect(try session.number(of: "proofs") == 0)
            #expect(try session.number(of: "leases") == 0)
            #expect(
                try session.isTrue(
                    """
                    EXISTS (SELECT FROM drafts WHERE id = \(draft.id) AND account_id = \(id) AND token_hash = \(draft.tokenHash)
                                                 AND sealed = '' AND email_digest IS NULL)
                    """
                )
            )
        }
    }

    @Test func `the owner of a new account gets a mail`() async throws {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft())
            try await service.deliver()
            let mails = service.mailbox.mails
            #expect(mails.map(\.to) == ["kim@example.com", "kim@example.com"])
            let text = Language.english.messages.accountCreated(
                serviceName: "Acme",
                address: "kim@example.com",
                link: "http://localhost:8080/recovery",
                contact: "https://acme.example/help"
            )
            #expect(mails.last?.subject == text.subject)
            #expect(mails.last?.text == text.text)
        }
    }

    // MARK: - Refusals

    @Test(
        arguments: [
            ("email", "code, password, confirmation, username, birth_date, terms"),
            ("code", "password, confirmation, username, birth_date, terms"),
            ("password", "username, birth_date, terms"),
            ("contact", "terms"),
        ] as [(StepName, String)]
    )
    func `a commit of an incomplete draft is refused with the missing fields`(last: StepName, missing: String)
        async throws
    {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: last)
            let before = try session.dump()
            #expect(await outcome { try await service.signups.commit(draft) } == "incomplete: \(missing)")
            #expect(try session.dump() == before)
        }
    }

    @Test func `a commit validates the draft under the current flow`() async throws {
        let draft = try await TestSignups.with(flow: Self.flow(terms: "1")) { service in
            try await service.submit(["username": "kim", "terms": true], to: "all", of: service.start())
        }
        try await TestSignups.with(flow: Self.flow(terms: "2")) { service in
            #expect(await outcome { try await service.signups.commit(draft) } == "incomplete: terms")
            let agreed = try await service.submit(["username": "kim", "terms": true], to: "all", of: draft)
            #expect(try await service.signups.commit(agreed).isNew)
            #expect(try session.query("SELECT version FROM consents").only.decode(String.self) == "2")
        }
    }

    @Test func `a commit after a change of the address does not reveal whether the new address has an account`()
        async throws
    {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft(email: "lee@example.com", username: "lee"))
            let ready = try await service.readyDraft()
            for address in ["lee@example.com", "nobody@example.com"] {
                _ = try await service.submit(
                    ["email": .string(address)],
                    to: "email",
                    of: service.signups.reread(ready)
                )
                let result = await outcome { try await service.signups.commit(ready) }
                #expect(result.hasPrefix("incomplete: "), "\(address)")
            }
        }
    }

    @Test func `a field without a stored value adds nothing to the profile`() async throws {
        func flow(_ field: String) -> String {
            """
            flow: short
            version: 1
            steps:
              - name: all
                title: {en: All}
                fields:
                  - {name: password, kind: password, label: {en: Password}}
                  - {name: again, \(field), label: {en: Again}}
            """
        }
        let draft = try await TestSignups.with(flow: flow("kind: text")) { service in
            let answers: Answers = ["password": .password("a pass phrase of mine"), "again": "a text"]
            return try await service.submit(answers, to: "all", of: service.start())
        }
        try await TestSignups.with(flow: flow("kind: confirmation, confirms: password")) { service in
            let account = try await service.signups.commit(service.signups.reread(draft)).account
            #expect(account.profile == [:])
        }
    }

    @Test func `an expired or cancelled draft is not committed`() async throws {
        try await TestSignups.with { service in
            let expired = try await service.readyDraft()
            try session.letPass("1 day")
            #expect(await outcome { try await service.signups.commit(expired) } == "expired")
            let cancelled = try await service.readyDraft()
            try await service.signups.cancel(cancelled)
            #expect(await outcome { try await service.signups.commit(cancelled) } == "cancelled")
            #expect(try session.number(of: "accounts") == 0)
        }
    }

    @Test(arguments: [("email", "kim@example.com"), ("username", "kim")] as [(FieldName, String)])
    func `an identifier that belongs to another account is refused, and the draft remains`(
        field: FieldName,
        value: String
    ) async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            try session.query(
                """
                WITH account AS (
                    INSERT INTO accounts (id, profile, locale, flow)
                    VALUES (gen_random_uuid(), '{}', 'en', 'default@1') RETURNING id
                ) INSERT INTO identifiers (kind, value, account) SELECT \(field.rawValue), \(value), id FROM account
                """
            )
            let before = try session.dump()
            #expect(await outcome { try await service.signups.commit(draft) } == "taken: \(field)")
            #expect(try session.dump() == before)
        }
    }

    @Test(arguments: ["accounts", "identifiers", "credentials", "consents", "outbox", "endings"])
    func `a commit with a failing statement changes nothing`(table: String) async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "code")
            let draft = try await service.readyDraft()
            let before = try session.dump()
            try session.refuse("INSERT", on: table)
            #expect(await outcome { try await service.signups.commit(draft) } == "database refused: P0001")
            #expect(try session.dump() == before)
            try session.allow()
            #expect(try await service.signups.commit(draft).isNew)
        }
    }

    // MARK: - Repeated and concurrent commits

    @Test func `a repeated commit returns the same account`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let first = try await service.signups.commit(draft)
            let before = try session.dump()
            for draft in [draft, try await service.signups.reread(draft)] {
                let commit = try await service.signups.commit(draft)
                let (account, isNew) = (commit.account, commit.isNew)
                #expect(!isNew)
                #expect(body(of: account) == body(of: first.account))
            }
            #expect(try session.dump() == before)
        }
    }

    @Test func `a repeated commit at a server with another first key returns the same session and device`() async throws
    {
        try await TestSignups.with { service in
            let (started, token) = try await service.signups.start(in: .english)
            let draft = try await service.fill(started)
            let client = CommittingClient(token: token, client: SessionClient(browser: nil, device: nil))
            let first = try #require(try await service.signups.commit(draft, signingIn: client).session)
            let keys = "new:" + Data(repeating: 8, count: 32).base64EncodedString() + "," + TestSignups.keys
            try await TestSignups.with(keys: keys) { server in
                let committed = try await server.signups.reread(draft)
                let again = try #require(try await server.signups.commit(committed, signingIn: client).session)
                #expect(again.token.text == first.token.text)
                #expect(first.device != nil && again.device == first.device)
            }
        }
    }

    @Test func `a hundred concurrent commits create one account`() async throws {
        try await TestSignups.with(connections: 11) { service in
            let draft = try await service.readyDraft()
            let commits = try await atOnce(100) { _ in try await service.signups.commit(draft) }
            #expect(commits.count(where: \.isNew) == 1)
            #expect(Set(commits.map { body(of: $0.account) }).count == 1)
            for table in ["accounts", "credentials", "outbox WHERE template = 'account-created'"] {
                #expect(try session.number(of: table) == 1)
            }
            #expect(try session.number(of: "identifiers") == 2)
        }
    }

    @Test func `one of twenty drafts with the same proved address becomes the account`() async throws {
        try await TestSignups.with(connections: 11) { service in
            var drafts: [Draft] = []
            for number in 0..<20 { drafts.append(try await service.readyDraft(username: "kim\(number)")) }
            let outcomes = try await atOnce(20) { [drafts] number in
                await outcome { try await service.signups.commit(drafts[number]) }
            }
            #expect(outcomes.tally["done"] == 1)
            #expect(Set(outcomes).isSubset(of: ["done", "superseded", "taken: email"]))
            let winner = try #require(outcomes.firstIndex(of: "done"))
            #expect(try session.query("SELECT username FROM accounts").only.decode(String.self) == "kim\(winner)")
            #expect(try session.number(of: "accounts") == 1)
            #expect(try session.number(of: "drafts") == 1)
            #expect(try session.number(of: "endings WHERE reason = 'superseded'") == 19)
            #expect(try session.number(of: "proofs") == 0)
            #expect(try session.number(of: "leases") == 0)
        }
        #expect(try await session.deadlocks() == 0)
    }

    @Test func `a commit supersedes the other drafts that have proved its address, and no others`() async throws {
        try await TestSignups.with { service in
            let unproved = try await service.fill(service.start(), through: "email")
            let ready = try await service.readyDraft(username: "rival")
            let other = try await service.readyDraft(email: "lee@example.com", username: "lee")
            let formerRival = try await service.fill(service.start(), through: "code")
            _ = try await service.submit(["email": "park@example.com"], to: "email", of: formerRival)
            let empty = try await service.start()
            let draft = try await service.readyDraft()
            let late = try await service.fill(service.start(), through: "email")
            try await service.signups.handOff(ready)
            _ = try await service.signups.commit(draft)
            let waiting = try session.query("SELECT template FROM outbox WHERE state = 'waiting' ORDER BY created_at")
            // The waiting code of an unproved draft and the waiting link of the rival were deleted.
            #expect(try waiting.only.decode(String.self) == "account-created")
            #expect(await outcome { try await service.signups.reread(ready) } == "superseded")
            #expect(await outcome { try await service.signups.commit(ready) } != "done")
            #expect(try session.isTrue("NOT EXISTS (SELECT FROM proofs WHERE draft = \(ready.id))"))
            #expect(try session.isTrue("NOT EXISTS (SELECT FROM leases WHERE draft = \(ready.id))"))
            for unproved in [unproved, late] {
                #expect(await outcome { try await service.signups.reread(unproved) } == "done")
                #expect(await outcome { try await service.signups.commit(unproved) } != "done")
                #expect(
                    try session.isTrue(
                        "EXISTS (SELECT FROM proofs WHERE draft = \(unproved.id) AND code_digest IS NULL)"
                    )
                )
            }
            #expect(
                try session.isTrue("EXISTS (SELECT FROM proofs WHERE draft = \(other.id) AND code_digest IS NOT NULL)")
            )
            for bystander in [other, formerRival, empty] {
                #expect(await outcome { try await service.signups.reread(bystander) } == "done")
            }
            #expect(try await service.signups.commit(other).isNew)
        }
    }

    @Test func `a commit during edits stores the last acknowledged values`() async throws {
        try await TestSignups.with(connections: 9) { service in
            for person in 0..<5 {
                let draft = try await service.readyDraft(email: "kim\(person)@example.com", username: "kim\(person)")
                async let lastAcknowledged: Int = {
                    for number in 1...40 {
                        let answers: Answers = [
                            "username": .string("kim\(person)"), "display_name": .string("name \(number)"),
                        ]
                        let ending = await outcome { try await service.submit(answers, to: "profile", of: draft) }
                        guard ending == "done" else {
                            #expect(ending == "committed")
                            return number - 1
                        }
                    }
                    return 40
                }()
                try await session.wait(
                    for: "SELECT FROM drafts WHERE id = \(draft.id) AND revision > \(draft.revision + 2)"
                )
                let account = try await service.signups.commit(draft).account
                let last = await lastAcknowledged
                #expect(account.profile["display_name"] == .string("name \(last)"))
            }
        }
    }

    @Test func `an address that changes during a commit is never committed unproved`() async throws {
        try await TestSignups.with(connections: 9) { service in
            for person in 0..<10 {
                let address = "kim\(person)@example.com"
                let draft = try await service.readyDraft(email: address, username: "kim\(person)")
                let other: Answers = ["email": .string("lee\(person)@example.com")]
                async let change = outcome { try await service.submit(other, to: "email", of: draft) }
                async let commit = outcome { try await service.signups.commit(draft) }
                switch (await change, await commit) {
                case ("done", "incomplete: code"):
                    #expect(try session.isTrue("NOT EXISTS (SELECT FROM accounts WHERE username = \("kim\(person)"))"))
                case ("committed", "done"):
                    #expect(
                        try session.isTrue(
                            "EXISTS (SELECT FROM accounts WHERE email = \(address) AND email_proved_at IS NOT NULL)"
                        )
                    )
                case let (change, commit): Issue.record("outcome of the change: \(change), of the commit: \(commit)")
                }
            }
        }
    }

    /// Inserts an account with this identifier, in the open transaction of the session.
    private func insertRival(_ kind: String, _ value: String, by rival: DatabaseSession) throws {
        try rival.query(
            """
            WITH account AS (
                INSERT INTO accounts (id, profile, locale, flow)
                VALUES (gen_random_uuid(), '{}', 'en', 'default@1') RETURNING id
            ) INSERT INTO identifiers (kind, value, account) SELECT \(kind), \(value), id FROM account
            """
        )
    }

    @Test(arguments: [("email", "kim@example.com"), ("username", "kim")])
    func `a commit that loses an identifier to a concurrent transaction writes nothing`(kind: String, value: String)
        async throws
    {
        try await TestSignups.with { service in
            let other = try await service.readyDraft(username: "other")
            let draft = try await service.readyDraft()
            let rival = try DatabaseSession()
            try rival.run("BEGIN")
            try insertRival(kind, value, by: rival)
            let before = try rival.dump()
            let commit = Task { await outcome { try await service.signups.commit(draft) } }
            // The commit has found the identifier free, and waits for the uncommitted row with the same primary key.
            try await session.waitUntilSomebodyIsBlocked()
            try rival.run("COMMIT")
            #expect(await commit.value == "taken: \(kind)")
            #expect(try session.dump() == before)
            #expect(await outcome { try await service.signups.reread(other) } == "done")
        }
    }

    @Test(arguments: [("email", "kim@example.com"), ("username", "kim")])
    func `a commit continues if the concurrent transaction with its identifier is rolled back`(
        kind: String,
        value: String
    ) async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let rival = try DatabaseSession()
            try rival.run("BEGIN")
            try insertRival(kind, value, by: rival)
            let commit = Task { try await service.signups.commit(draft) }
            try await session.waitUntilSomebodyIsBlocked()
            try rival.run("ROLLBACK")
            #expect(try await commit.value.isNew)
            #expect(try session.number(of: "accounts") == 1)
            #expect(try session.number(of: "identifiers") == 2)
        }
    }

    @Test func `a commit that a rate limit refuses writes nothing`() async throws {
        var limits = Limits.lavish
        limits.byName[.commits] = Limit(1, per: .seconds(3600))
        try await TestSignups.with(limits: limits) { service in
            _ = try await service.signups.commit(service.readyDraft(email: "lee@example.com", username: "lee"))
            let draft = try await service.readyDraft()
            let before = try session.dump()
            #expect(await outcome { try await service.signups.commit(draft) } == "too many: commits")
            #expect(try session.dump() == before)
        }
    }

    @Test func `PostgreSQL does not log the address for which two transactions race`() async throws {
        let settings = ["log_statement=all", "log_parameter_max_length=0", "log_parameter_max_length_on_error=0"]
        try await Cluster.withRunning(settings: settings) { cluster in
            _ = try Migrations().apply(to: cluster.conninfo)
            try await TestSignups.with(conninfo: cluster.conninfo) { service in
                let draft = try await service.readyDraft()
                let (rival, observer) = (
                    try DatabaseSession(to: cluster.conninfo), try DatabaseSession(to: cluster.conninfo)
                )
                try rival.run("BEGIN")
                try insertRival("email", "kim@example.com", by: rival)
                let commit = Task { await outcome { try await service.signups.commit(draft) } }
                try await observer.waitUntilSomebodyIsBlocked()
                try rival.run("COMMIT")
                #expect(await commit.value == "taken: email")
                let log = try cluster.log()
                #expect(log.contains("INSERT INTO identifiers"), "every statement is in the log")
                #expect(!log.contains("kim@example.com") && !log.contains("identifiers_pkey"))
            }
        }
    }

    // MARK: - Lost connections

    @Test func `a commit that loses its connection creates one account`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let holder = try DatabaseSession()
            try holder.lockDrafts()
            let commit = Task { try await service.signups.commit(draft) }
            for _ in 0..<3 {
                try await session.waitUntilSomebodyIsBlocked()
                try await session.terminateBlockedSessions()
            }
            try await session.waitUntilSomebodyIsBlocked()
            #expect(try session.number(of: "accounts") == 0)
            try holder.releaseDrafts()
            let account = try await commit.value.account
            let again = try await service.signups.commit(draft)
            #expect(!again.isNew)
            #expect(body(of: again.account) == body(of: account))
            #expect(try session.number(of: "accounts") == 1)
        }
    }

    @Test func `concurrent commits that lose their connections create one account`() async throws {
        try await TestSignups.with(connections: 9) { service in
            let draft = try await service.readyDraft()
            let holder = try DatabaseSession()
            try holder.lockDrafts()
            let commits = Task {
                try await atOnce(20) { _ in try? await service.signups.commit(draft).account }
            }
            // The commits of one server wait for each other, so only one session is blocked.
            try await session.waitUntilSomebodyIsBlocked()
            try await session.terminateBlockedSessions()
            try holder.releaseDrafts()
            let acknowledged = try await commits.value.compactMap { $0?.id }
            let account = try await service.signups.commit(draft).account
            #expect(Set(acknowledged).isSubset(of: [account.id]))
            #expect(try session.number(of: "accounts") == 1)
            #expect(try session.number(of: "outbox WHERE template = 'account-created'") == 1)
        }
    }

    @Test func `a commit that took effect before it lost its connection is counted`() async throws {
        // A commit on a server that misses its standby takes effect when it is ended while it waits for the standby.
        let settings = ["synchronous_standby_names=missing", "synchronous_commit=local"]
        try await Cluster.withRunning(settings: settings) { cluster in
            _ = try Migrations().apply(to: cluster.conninfo)
            let session = try DatabaseSession(to: cluster.conninfo)
            try session.run(
                """
                CREATE FUNCTION wait_for_standby() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM set_config('synchronous_commit', 'on', true); RETURN NULL; END $$;
                CREATE TRIGGER wait_for_standby AFTER INSERT ON accounts
                    FOR EACH ROW EXECUTE FUNCTION wait_for_standby()
                """
            )
            try await TestSignups.with(conninfo: cluster.conninfo) { service in
                let (started, token) = try await service.signups.start(in: .english)
                let draft = try await service.fill(started)
                let client = CommittingClient(token: token, client: SessionClient(browser: nil, device: nil))
                let commit = Task { try await service.signups.commit(draft, signingIn: client) }
                try await session.wait(
                    for: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                )
                #expect(try await !commit.value.isNew)
                try await service.signups.funnel.flush(to: service.database)
                let counts = try session.query(
                    """
                    SELECT concat_ws(' ', step, outcome, count) FROM funnel_daily
                     WHERE step IN ('review', 'sign-in') ORDER BY 1
                    """
                ).map { try $0.decode(String.self) }
                #expect(
                    counts == [
                        "review completed 1", "review entered 1", "sign-in completed 1", "sign-in entered 1",
                    ]
                )
            }
        }
    }

    /// All visible members of an account, in one line.
    private func body(of account: Account) -> String {
        "\(account.id) \(account.email ?? "-") \(account.username ?? "-") \(account.profile.text) \(account.createdAt.timeIntervalSince1970)"
    }

    /// A flow of one step, with this version of the terms.
    private static func flow(terms version: String) -> String {
        """
        flow: short
        version: \(version)
        steps:
          - name: all
            title: {en: All}
            fields:
              - {name: username, kind: username, identifier: true, label: {en: Name}}
              - {name: terms, kind: consent, version: "\(version)", document: {en: The terms.}, label: {en: Terms}}
        """
    }
}
