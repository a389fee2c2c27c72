import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

/// Two requests that change the credentials of one account, or sign in to it. Each pair runs in two ways: many times at
/// once, and once so that both requests wait for the row of the account, which the test holds until then.
@Suite("Changes of one account at the same time", .freshDatabase)
struct CredentialRaceTests {
    private static let (email, old) = ("kim@example.com", "a pass phrase of mine")

    // MARK: Recoveries

    @Test func `of two recoveries that commit at once, one password wins, and its session is the only one`()
        async throws
    {
        try await TestServer.with { site in
            try await site.readyAccount()
            for round in 1...8 {
                let rivals = try await Self.recoveries(site, round)
                let commits = try await atOnce(2) { try await rivals[$0].commitRecovery() }
                try await site.expectOneWinner(of: rivals, commits, loser: "draft-expired")
            }
        }
    }

    @Test func `of two recoveries that wait for the account, the first one wins`() async throws {
        try await TestServer.with(timeouts: .all(.seconds(3600))) { site in
            try await site.readyAccount()
            let rivals = try await Self.recoveries(site, 1)
            let commits = try await Self.queued(
                { try await rivals[0].commitRecovery() },
                { try await rivals[1].commitRecovery() }
            )
            #expect(commits.map(\.status) == [200, 410])
            #expect(commits[1].json["reason"] == "superseded")
            try await site.expectOneWinner(of: rivals, commits, loser: "draft-expired")
        }
    }

    private static func recoveries(_ site: TestServer, _ round: Int) async throws -> [Rival] {
        let rivals = Rival.two(site, round)
        for rival in rivals { try await rival.recover() }
        return rivals
    }

    // MARK: A recovery and sign-ins

    @Test func `after a recovery the old password is refused, and so is each session that it started meanwhile`()
        async throws
    {
        try await TestServer.with { site in
            try await site.readyAccount()
            var password = Self.old
            for round in 1...6 {
                let rival = Rival(site, "the phrase of round \(round)")
                try await rival.recover()
                let (before, others) = (password, (0..<4).map { _ in Browser(site) })
                let responses = try await atOnce(5) { number in
                    number == 2
                        ? try await rival.commitRecovery()
                        : try await others[number - (number > 2 ? 1 : 0)].signIn(Self.email, before)
                }
                #expect(responses[2].status == 200)
                for response in responses.enumerated().filter({ $0.offset != 2 }).map(\.element) {
                    #expect(response.status == 201 || response.slug == "sign-in-failed")
                }
                try await site.expectOnlySession(of: rival.browser, notOf: others, refusing: before)
                password = rival.password
                try DatabaseSession().run("DELETE FROM sign_in_failures")
            }
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `a sign-in that waits with the commit of a recovery gives no access`(
        isSignInFirst: Bool,
        hasAuthenticator: Bool
    ) async throws {
        try await TestServer.with(timeouts: .all(.seconds(3600))) { site in
            let person = try await Browser(site).signUp(hasAuthenticator: hasAuthenticator)
            let (rival, other) = (Rival(site, "the phrase of the recovery"), Browser(site))
            try await rival.recover(person.recoveryCodes.first)
            let commit: Act = { try await rival.commitRecovery() }
            let signIn: Act = { try await other.signIn(Self.email, Self.old) }
            if isSignInFirst {
                let responses = try await Self.queued(signIn, commit)
                #expect(responses.map(\.status) == [201, 200])
            } else {
                let responses = try await Self.queued(commit, signIn)
                #expect(responses.map(\.status) == [200, 401] && responses[1].slug == "sign-in-failed")
            }
            if hasAuthenticator {
                let code = JSON.string(person.recoveryCodes[1])
                let factor = try await other.send(.put, "/session/recovery-code", ["code": code])
                #expect(factor.slug == "no-session", "the sign-in that waited for its second factor has ended")
            }
            try await site.expectOnlySession(of: rival.browser, notOf: [other], refusing: Self.old)
            let waiting = try DatabaseSession().number(of: "sign_ins")
            #expect(waiting == 0)
        }
    }

    // MARK: The password

    @Test(arguments: [false, true])
    func `of two changes of the password at once, one wins, and ends the session of the other`(isOneSession: Bool)
        async throws
    {
        try await TestServer.with { site in
            try await site.readyAccount()
            var password = Self.old
            for round in 1...8 {
                let rivals = try await Self.signedIn(site, round, password, isOneSession)
                let changes = try await atOnce(2) { try await rivals[$0].changePassword() }
                #expect(Set(changes.map(\.status)) == [200, 401])
                try await site.expectOneWinner(of: rivals, changes, loser: "no-session")
                password = rivals[changes[0].status == 200 ? 0 : 1].password
            }
            try await site.service.deliver()
            let mails = site.service.mailbox.mails.filter { $0.subject == "Your Acme password was changed" }
            #expect(mails.count == 8, "only the changes that took effect cause a mail")
        }
    }

    @Test(arguments: [false, true])
    func `of two changes of the password that wait for the account, the first one wins`(isOneSession: Bool)
        async throws
    {
        try await TestServer.with(timeouts: .all(.seconds(3600))) { site in
            try await site.readyAccount()
            let rivals = try await Self.signedIn(site, 1, Self.old, isOneSession)
            let changes = try await Self.queued(
                { try await rivals[0].changePassword() },
                { try await rivals[1].changePassword() }
            )
            #expect(changes.map(\.status) == [200, 401])
            try await site.expectOneWinner(of: rivals, changes, loser: "no-session")
        }
    }

    /// Two rivals who have signed in, each with a session of its own or both with the same one.
    private static func signedIn(
        _ site: TestServer,
        _ round: Int,
        _ password: String,
        _ isOneSession: Bool
    ) async throws -> [Rival] {
        let rivals = Rival.two(site, round)
        for rival in rivals {
            if isOneSession, let session = rivals[0].browser["session"] {
                rival.browser["session"] = session
            } else {
                #expect(try await rival.browser.signIn(email, password).status == 201)
            }
        }
        return rivals
    }

    // MARK: The address

    /// What two changes of the address have in common.
    enum Shared: CaseIterable, Sendable {
        case nothing, session, address
    }

    @Test(arguments: Shared.allCases)
    func `of two changes of the address at once, one takes effect, and ends the other`(shared: Shared) async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            var address = Self.email
            for round in 1...5 {
                let movers = try await Self.movers(site, round, from: address, shared)
                let commits = try await atOnce(2) { try await movers[$0].browser.send(.post, "/email-change/commit") }
                address = try await site.expectOneMove(movers, commits, from: address)
                try DatabaseSession().run("UPDATE address_changes SET changed_at = changed_at - interval '25 hours'")
            }
        }
    }

    @Test(arguments: Shared.allCases)
    func `of two changes of the address that wait for the account, the first one takes effect`(shared: Shared)
        async throws
    {
        try await TestServer.with(timeouts: .all(.seconds(3600))) { site in
            try await site.readyAccount()
            let movers = try await Self.movers(site, 1, from: Self.email, shared)
            let commits = try await Self.queued(
                { try await movers[0].browser.send(.post, "/email-change/commit") },
                { try await movers[1].browser.send(.post, "/email-change/commit") }
            )
            #expect(commits.map(\.status) == [200, 410])
            #expect(commits[1].json["reason"] == "superseded")
            _ = try await site.expectOneMove(movers, commits, from: Self.email)
        }
    }

    /// Two browsers that have proved a new address of the account.
    private static func movers(
        _ site: TestServer,
        _ round: Int,
        from address: String,
        _ shared: Shared
    ) async throws -> [Mover] {
        let movers = (1...2).map { number in
            Mover(browser: Browser(site), address: "kim-\(round)-\(shared == .address ? 0 : number)@example.net")
        }
        for mover in movers {
            if shared == .session, let session = movers[0].browser["session"] {
                mover.browser["session"] = session
            } else {
                #expect(try await mover.browser.signIn(address, old).status == 201)
            }
        }
        for mover in movers { try await mover.browser.proveAddress(mover.address) }
        return movers
    }

    // MARK: The username

    @Test func `of two equal renamings that wait for the account, both succeed, and one mails a notice`() async throws {
        try await TestServer.with(timeouts: .all(.seconds(3600))) { site in
            let kim = Browser(site)
            try await kim.signUp()
            let rename: Act = { try await kim.send(.put, "/account/profile", ["username": "mina"]) }
            let responses = try await Self.queued(rename, rename)
            #expect(responses.map(\.status) == [200, 200])
            #expect(responses.allSatisfy { $0.json["account"]?["username"] == "mina" })
            let notices = try DatabaseSession().number(of: "outbox WHERE template = 'username-changed'")
            #expect(notices == 1)
        }
    }

    // MARK: - Helpers

    private typealias Act = @Sendable () async throws -> Response

    /// Performs two acts that lock the row of the account. The test holds the row until the first act waits for it, and
    /// then the second one. PostgreSQL gives the lock to the act that has waited longer. An act must not lose its place, so
    /// the timeouts of the server must be long.
    private static func queued(_ first: @escaping Act, _ second: @escaping Act) async throws -> [Response] {
        let (holder, observer) = (try DatabaseSession(), try DatabaseSession())
        try holder.run("BEGIN; SELECT FROM accounts FOR UPDATE")
        async let one = first()
        try await observer.waitUntilBlocked(1)
        async let two = second()
        try await observer.waitUntilBlocked(2)
        try holder.run("COMMIT")
        return try await [one, two]
    }
}

/// A browser, and the password that its person chooses.
private struct Rival: Sendable {
    let browser: Browser
    let password: String

    init(_ site: TestServer, _ password: String) {
        (browser, self.password) = (Browser(site), password)
    }

    static func two(_ site: TestServer, _ round: Int) -> [Rival] {
        (1...2).map { Rival(site, "the phrase of person \(round)-\($0)") }
    }

    private var passwords: JSON { ["password": .string(password), "confirmation": .string(password)] }

    /// Starts a recovery and answers all of its steps.
    func recover(_ recoveryCode: String? = nil) async throws {
        try await browser.recover()
        if let recoveryCode {
            try await browser.send(.put, "/recovery/second-factor", ["second_factor": .string(recoveryCode)])
        }
        #expect(try await browser.send(.put, "/recovery/password", passwords).nextStep == "review")
    }

    func commitRecovery() async throws -> Response { try await browser.send(.post, "/recovery/commit") }

    func changePassword() async throws -> Response { try await browser.send(.put, "/account/password", passwords) }
}

/// A browser, and the address that its person has proved.
private struct Mover: Sendable {
    let browser: Browser
    let address: String
}

extension TestServer {
    /// Exactly one response is a success. Only the session and the password of its rival are valid.
    fileprivate func expectOneWinner(of rivals: [Rival], _ responses: [Response], loser slug: String) async throws {
        #expect(responses.filter { $0.status == 200 }.count == 1)
        let sessions = try DatabaseSession().number(of: "sessions")
        #expect(sessions == 1)
        for (rival, response) in zip(rivals, responses) {
            let hasWon = response.status == 200
            if !hasWon { #expect(response.slug == slug) }
            #expect(try await rival.browser.send(.get, "/session").status == (hasWon ? 200 : 401))
            let signIn = try await Browser(self).signIn("kim", rival.password)
            #expect(hasWon ? signIn.status == 201 : signIn.slug == "sign-in-failed")
        }
        try DatabaseSession().run("DELETE FROM sign_in_failures")
    }

    /// The session of the browser is the only one of the account, the others have none, and the password is refused.
    fileprivate func expectOnlySession(
        of browser: Browser,
        notOf others: [Browser],
        refusing password: String
    ) async throws {
        let sessions = try DatabaseSession().number(of: "sessions")
        #expect(sessions == 1)
        #expect(try await browser.send(.get, "/session").status == 200)
        for other in others { #expect(try await other.send(.get, "/session").slug == "no-session") }
        #expect(try await Browser(self).signIn("kim", password).slug == "sign-in-failed")
    }

    /// Exactly one response is a success: the account has its address, the one before is reserved, and only its session
    /// is valid. Returns the address.
    fileprivate func expectOneMove(
        _ movers: [Mover],
        _ responses: [Response],
        from old: String
    ) async throws -> String {
        let winner = try #require(responses.firstIndex { $0.status == 200 })
        let loser = responses[1 - winner]
        #expect(loser.slug == "draft-expired" && loser.json["reason"] == "superseded")
        let session = try DatabaseSession()
        let addresses = try session.query(
            "SELECT value FROM identifiers WHERE kind = 'email' AND reserved_until IS NULL"
        )
        .map { try $0.decode(String.self) }
        #expect(addresses == [movers[winner].address])
        #expect(try session.number(of: "identifiers WHERE value = '\(old)' AND reserved_until > now()") == 1)
        #expect(try session.number(of: "address_changes WHERE changed_at > now() - interval '1 hour'") == 1)
        #expect(try session.number(of: "sessions") == 1)
        let shown = try await movers[winner].browser.send(.get, "/session")
        #expect(shown.json["account"]?["email"] == .string(movers[winner].address))
        #expect(try await movers[1 - winner].browser.send(.get, "/session").slug == "no-session")
        return movers[winner].address
    }
}

extension DatabaseSession {
    /// Waits until this number of sessions in this database wait for a lock.
    fileprivate func waitUntilBlocked(_ number: Int) async throws {
        try await wait(
            for: """
                SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                HAVING count(*) = \(number)
                """
        )
    }
}
