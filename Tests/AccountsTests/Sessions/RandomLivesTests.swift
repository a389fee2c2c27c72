import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Random lives of accounts", .freshDatabase, .timeLimit(.minutes(5)))
struct RandomLivesTests {
    private static let seed = ProcessInfo.processInfo.environment["SEED"].map { UInt64($0)! }
    private static let lives = 1000

    /// Every run uses other seeds. `SEED=… swift test --filter RandomLives` runs the given seed alone.
    @Test func `a thousand random lives of accounts behave as the model predicts`() async throws {
        try await TestSignups.with(flow: Life.flow, connections: 9) { service in
            let first = Self.seed ?? .random(in: 0...UInt64(Int64.max))
            let count = Self.seed == nil ? Self.lives : 1
            let logs = await withTaskGroup(of: [LifeLog].self) { group in
                let workers = 8
                for worker in 0..<workers {
                    group.addTask {
                        var logs: [LifeLog] = []
                        for number in stride(from: worker, to: count, by: workers) {
                            logs.append(await LifeLog(of: first &+ UInt64(number), on: service))
                        }
                        return logs
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            try await service.deliver()
            let codes = service.mailbox.mails.filter { $0.subject == "Your code for a new password at Acme" }
            let expected = logs.flatMap(\.recoveryMails)
            let failures = logs.filter { $0.failure != nil }.sorted { $0.lines.count < $1.lines.count }
            if let shortest = failures.first {
                Issue.record(
                    "\(failures.count) of \(logs.count) failed, such as \(failures.prefix(20).map(\.seed))\n\(shortest)"
                )
            } else {
                #expect(codes.map(\.to).sorted() == expected.sorted(), "only the address of an account gets a code")
            }
        }
    }
}

/// The log of one life, and its difference from the model if there is one.
private struct LifeLog: CustomStringConvertible, Sendable {
    let seed: UInt64
    private(set) var lines: [String] = []
    private(set) var failure: String?
    /// The addresses to which codes of recoveries were mailed.
    private(set) var recoveryMails: [String] = []

    init(of seed: UInt64, on service: TestSignups) async {
        self.seed = seed
        do {
            var life = try await Life(seed: seed, on: service)
            do {
                for _ in 0..<Int.random(in: 4...14, using: &life.chance) { try await life.act() }
                try await life.checkRows()
            } catch {
                failure = "\(error)"
            }
            (lines, recoveryMails) = (life.log, life.recoveryMails)
        } catch {
            failure = "\(error)"
        }
    }

    var description: String { "SEED=\(seed)\n\(lines.joined(separator: "\n"))\n\(failure ?? "")" }
}

/// One account, from its sign-up on, beside a model of what must be true of it.
private struct Life {
    static let flow = """
        flow: lives
        version: 1
        steps:
          - {name: email, title: E, fields: [{name: email, kind: email, label: E, identifier: true}]}
          - {name: code, title: C, fields: [{name: code, kind: code, proves: email, label: C}]}
          - {name: password, title: P, fields: [{name: password, kind: password, label: P}]}
          - name: name
            title: N
            editable: true
            fields: [{name: username, kind: username, label: N, identifier: true}]
        """

    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    /// A session that was given once.
    struct Held {
        var token: Token<AccountSession>
        var isValid = true
        var hasTwoFactors = false
    }

    /// The authenticator app of the account, with its recovery codes.
    struct App {
        let secret: [UInt8]
        /// The time step of the last code that was accepted; nil if the database has been made to forget it.
        var usedStep: Int?
        var codes: [RecoveryCode]
        var usedCodes: [RecoveryCode] = []
    }

    /// A second factor that the person enters.
    enum Factor: CustomStringConvertible {
        case app(step: Int)
        case usedApp
        case recoveryCode(RecoveryCode)
        case usedRecoveryCode(RecoveryCode)

        var isRight: Bool {
            switch self {
            case .app, .recoveryCode: true
            case .usedApp, .usedRecoveryCode: false
            }
        }

        var description: String {
            switch self {
            case .app: "the app"
            case .usedApp: "the used code of the app"
            case .recoveryCode: "a recovery code"
            case .usedRecoveryCode: "a used recovery code"
            }
        }
    }

    /// An open draft that changes the account.
    struct Open {
        let draft: Draft
        let token: Token<Draft>
        /// The session that has started it; nil for a recovery.
        var session: Int?
        var address = ""
        var isCurrent = true
        var needsSecondFactor = false
    }

    /// An address that the account has left.
    struct Left {
        let address: String
        let token: AddressToken
    }

    let service: TestSignups
    var chance: SeededChance
    private(set) var log: [String] = []
    private(set) var recoveryMails: [String] = []
    private let tag: String
    private let account: ID<Account>
    private var number = 0

    // The model.
    private var exists = true
    private var isDisabled = false
    private var address: String
    private var username: String
    private var password: String?
    private var app: App?
    private var sessions: [Held] = []
    private var recoveries: [Open] = []
    private var changes: [Open] = []
    private var left: [Left] = []
    private var usedLinks: [AddressToken] = []
    /// Whether the address has changed less than a day ago.
    private var isPaused = false

    init(seed: UInt64, on service: TestSignups) async throws {
        self.service = service
        chance = SeededChance(seed: seed)
        tag = String(seed, radix: 36)
        (address, username, password) = ("a0-\(tag)@example.com", "u0-\(tag)", "the first pass phrase")
        let signups = service.signups
        var (draft, token) = try await signups.start(in: .english)
        let answers: [Answers] = [
            ["email": .string(address)], [:], ["password": .password("the first pass phrase")],
            ["username": .string(username)],
        ]
        for (step, answer) in zip(signups.flow.steps, answers) {
            let code: Answers = [
                "code": .string(step.name == "code" ? try await Self.code(for: address, 0, service) : "")
            ]
            draft = try await signups.submit(step.name == "code" ? code : answer, to: step, of: draft).draft
        }
        let commit = try await signups.commit(draft, signingIn: Self.client(token))
        account = commit.account.id
        if let session = commit.session { sessions.append(Held(token: session.token)) }
    }

    /// The code in the mail to the address that comes after so many others.
    private static func code(for address: String, _ earlier: Int, _ service: TestSignups) async throws -> String {
        while service.mailbox.mails(to: address).count <= earlier {
            try await service.deliver()
            await Task.yield()
        }
        return try service.mailbox.code(for: address)
    }

    private func mails(to address: String) -> Int { service.mailbox.mails(to: address).count }

    private static func client(_ token: Token<Draft>) -> CommittingClient {
        CommittingClient(token: token, client: SessionClient(browser: nil, device: nil))
    }

    /// Each act comes from another network, so that its guesses do not affect those of others.
    private mutating func signIn() -> Sessions {
        let parts = (0..<3).map { _ in Int.random(in: 1...254, using: &chance) }
        let network = Network(IPAddress("10.\(parts[0]).\(parts[1]).\(parts[2])")!)
        return Sessions(signups: service.signups, failureTime: .zero).from(
            network,
            SessionClient(browser: nil, device: nil)
        )
    }

    private func following(_ purpose: FlowPurpose) -> Signups {
        service.signups.following(service.signups.flow.changes.first { $0.purpose == purpose }!)
    }

    private mutating func next(_ prefix: String) -> String {
        number += 1
        return "\(prefix)\(number)-\(tag)"
    }

    // MARK: Acts

    mutating func act() async throws {
        switch Int.random(in: 0..<21, using: &chance) {
        case 0...2: try await trySignIn()
        case 3, 4: try await checkSession()
        case 5: try await signOut()
        case 6: try await changePassword()
        case 7, 8: try await startRecovery()
        case 9: try await finishRecovery()
        case 10: try await startChange()
        case 11: try await finishChange()
        case 12: try await undo()
        case 13: try await letADayPass()
        case 14: try await rename()
        case 15...17: try await addApp()
        case 18: try await removeApp()
        case 19: try await replaceRecoveryCodes()
        default: try await administrate()
        }
    }

    private mutating func expect(_ outcome: String, _ expected: String, _ what: String) throws {
        log.append("\(what): \(outcome)")
        if outcome != expected { throw Mismatch(description: "\(what): expected \(expected), but was \(outcome)") }
    }

    /// Everything that was begun before has no use any more.
    private mutating func outdate() {
        for index in recoveries.indices { recoveries[index].isCurrent = false }
        for index in changes.indices { changes[index].isCurrent = false }
    }

    private mutating func endSessions(but kept: Int? = nil) {
        for index in sessions.indices where index != kept { sessions[index].isValid = false }
    }

    private mutating func trySignIn() async throws {
        let identifiers = [address, username, "nobody-\(tag)@example.com"] + left.map(\.address)
        let identifier = identifiers.randomElement(using: &chance)!
        let guess = ["the first pass phrase", password ?? "none at all, as it was removed", "a wrong pass phrase"]
            .randomElement(using: &chance)!
        guard case .secret(let secret) = FieldAnswer.password(guess) else { return }
        let isRight = exists && !isDisabled && guess == password && [address, username].contains(identifier)
        let outcome: String
        var waiting: PendingSignIn?
        do throws(SignInError) {
            switch try await signIn().signIn(as: SignInIdentifier(identifier), with: secret) {
            case .session(let new):
                sessions.append(Held(token: new.token))
                outcome = "signed in"
            case .pending(let pending):
                waiting = pending
                outcome = "\(pending.awaits)"
            case .deviceKnown: outcome = "device known"
            }
        } catch {
            outcome = error.word
        }
        let right = app == nil ? "signed in" : "secondFactor"
        try expect(outcome, isRight ? right : "failed", "sign in as \(identifier) with \(guess)")
        if let waiting { try await enterFactor(for: waiting) }
    }

    private mutating func enterFactor(for waiting: PendingSignIn) async throws {
        guard let factor = try await chooseFactor() else { return }
        let outcome: String
        do throws(SignInError) {
            let new = try await signIn().enter(secondFactor(factor), for: waiting.token)
            sessions.append(Held(token: new.token, hasTwoFactors: true))
            use(factor, replacedBy: new.recoveryCode)
            outcome = "signed in"
        } catch {
            outcome = error.word
        }
        try expect(outcome, factor.isRight ? "signed in" : "refused", "enter \(factor)")
    }

    /// Nil if the account has no app.
    private mutating func chooseFactor() async throws -> Factor? {
        guard let app else { return nil }
        switch Int.random(in: 0..<6, using: &chance) {
        case 0: if app.usedStep != nil { return .usedApp }
        case 1: if let code = app.usedCodes.randomElement(using: &chance) { return .usedRecoveryCode(code) }
        case 2, 3: if let code = app.codes.randomElement(using: &chance) { return .recoveryCode(code) }
        default: break
        }
        // As if the app showed another code than the one that was accepted last.
        let reset: SQL = "UPDATE authenticators SET last_step = 0 WHERE account = \(account) RETURNING now()"
        let now = try await service.database.transaction(reset)[0].only.decode(Date.self)
        self.app?.usedStep = nil
        return .app(step: TOTP.timeStep(at: now))
    }

    /// What the person types.
    private func secondFactor(_ factor: Factor) -> SecondFactor {
        switch factor {
        case .app(let step): .totp(TOTP.code(app?.secret ?? [], step: step))
        case .usedApp: .totp(TOTP.code(app?.secret ?? [], step: app?.usedStep ?? 0))
        case .recoveryCode(let code), .usedRecoveryCode(let code): .recoveryCode(code)
        }
    }

    /// The factor was accepted.
    private mutating func use(_ factor: Factor, replacedBy new: RecoveryCode?) {
        switch factor {
        case .app(let step): app?.usedStep = step
        case .recoveryCode(let code):
            app?.codes.removeAll { $0.text == code.text }
            app?.codes += [new].compactMap { $0 }
            app?.usedCodes.append(code)
        case .usedApp, .usedRecoveryCode: break
        }
    }

    private mutating func checkSession() async throws {
        let index = sessions.indices.randomElement(using: &chance)!
        let outcome: String
        do throws(SignInError) {
            let found = try await signIn().find(sessions[index].token)
            let hasTwoFactors = found.assurance == .aal2
            outcome =
                found.account.email != address || found.account.username != username
                ? "another account" : hasTwoFactors == sessions[index].hasTwoFactors ? "found" : "another assurance"
        } catch {
            outcome = error.word
        }
        try expect(outcome, sessions[index].isValid ? "found" : "no session", "session \(index)")
    }

    /// A session that can be used; nil if there is none.
    private mutating func usable() async throws -> (index: Int, session: AccountSession)? {
        guard let index = sessions.indices.filter({ sessions[$0].isValid }).randomElement(using: &chance) else {
            return nil
        }
        return (index, try await signIn().find(sessions[index].token))
    }

    private mutating func signOut() async throws {
        let index = sessions.indices.randomElement(using: &chance)!
        let hasEnded = try await signIn().end(sessions[index].token)
        try expect("\(hasEnded)", "\(sessions[index].isValid)", "sign out of \(index)")
        sessions[index].isValid = false
    }

    private mutating func changePassword() async throws {
        guard let (index, session) = try await usable() else { return }
        let new = "pass phrase \(next("number "))"
        guard let renewed = try await signIn().changePassword(["password": .password(new)], of: session, in: .english)
        else { throw Mismatch(description: "the change of a password has erased the account") }
        log.append("session \(index) changes the password")
        password = new
        hasChanged(by: index, renewed)
    }

    /// Adds an app, or replaces the one that the account has.
    private mutating func addApp() async throws {
        guard let (index, session) = try await usable() else { return }
        let enrolment = try await signIn().enrolment(of: session)
        let (secret, step) = (enrolment.secret.base32Bytes, TOTP.timeStep(at: enrolment.now))
        let isPossible = app == nil || sessions[index].hasTwoFactors
        let outcome: String
        do throws(SignInError) {
            let code = TOTP.code(secret, step: step)
            let added = try await signIn().addAuthenticator(code, to: session, in: .english)
            hasChanged(by: index, added.session)
            sessions[index].hasTwoFactors = true
            app = App(secret: secret, usedStep: step, codes: added.codes)
            outcome = "done"
        } catch {
            outcome = error.word
        }
        try expect(outcome, isPossible ? "done" : "no such factor", "session \(index) adds an app")
    }

    private mutating func removeApp() async throws {
        guard let (index, session) = try await usable() else { return }
        let isPossible = app != nil && sessions[index].hasTwoFactors
        let outcome: String
        do throws(SignInError) {
            let renewed = try await signIn().removeAuthenticator(of: session, in: .english)
            hasChanged(by: index, renewed)
            app = nil
            outcome = "done"
        } catch {
            outcome = error.word
        }
        try expect(outcome, isPossible ? "done" : "no such factor", "session \(index) removes the app")
    }

    private mutating func replaceRecoveryCodes() async throws {
        guard let (index, session) = try await usable() else { return }
        let isPossible = app != nil && sessions[index].hasTwoFactors
        let outcome: String
        do throws(SignInError) {
            let new = try await signIn().newRecoveryCodes(of: session, in: .english)
            hasChanged(by: index, new.session)
            let old = app?.codes ?? []
            app?.usedCodes += old
            app?.codes = new.codes
            outcome = "done"
        } catch {
            outcome = error.word
        }
        try expect(outcome, isPossible ? "done" : "no such factor", "session \(index) replaces the recovery codes")
    }

    /// The session has changed what protects the account.
    private mutating func hasChanged(by index: Int, _ renewed: NewSession?) {
        endSessions(but: index)
        if let renewed { sessions[index].token = renewed.token } else { sessions[index].isValid = false }
        outdate()
    }

    private mutating func startRecovery() async throws {
        let addresses = [address, address, "nobody-\(tag)@example.com"] + left.map(\.address)
        let typed = addresses.randomElement(using: &chance)!
        let signups = following(.recovery)
        let before = mails(to: typed)
        let (empty, token) = try await signups.start(in: .english)
        let sent = try await signups.submit(["email": .string(typed)], to: signups.flow.steps[0], of: empty).draft
        log.append("a recovery for \(typed)")
        guard exists, !isDisabled, typed == address else { return }
        recoveryMails.append(typed)
        let code = try await codeOfRecovery(to: typed, after: before)
        let draft = try await signups.submit(["code": .string(code)], to: signups.flow.steps[1], of: sent).draft
        recoveries.append(Open(draft: draft, token: token, address: typed, needsSecondFactor: app != nil))
    }

    /// Other mails to the address, such as a notice, may arrive before it.
    private func codeOfRecovery(to address: String, after earlier: Int) async throws -> String {
        while true {
            try await service.deliver()
            let new = service.mailbox.mails(to: address).dropFirst(earlier)
            if let mail = new.last(where: { $0.subject.contains("new password") }),
                let code = Mailbox.code(in: mail.text)
            {
                return code
            }
            await Task.yield()
        }
    }

    private mutating func finishRecovery() async throws {
        guard let index = recoveries.indices.randomElement(using: &chance) else { return }
        let open = recoveries.remove(at: index)
        let signups = following(.recovery)
        let new = "pass phrase \(next("number "))"
        let isPossible = open.isCurrent && exists && !isDisabled
        let outcome: String
        do {
            let step = signups.flow.steps[3]
            let draft = open.needsSecondFactor ? try await enterFactor(in: open.draft, of: signups) : open.draft
            let answered = try await signups.submit(["password": .password(new)], to: step, of: draft).draft
            let commit = try await signups.commit(answered, signingIn: Self.client(open.token))
            endSessions()
            if let session = commit.session {
                sessions.append(Held(token: session.token, hasTwoFactors: open.needsSecondFactor))
            }
            password = new
            outdate()
            outcome = "recovered"
        } catch SubmitError.find(.ended(.superseded)), CommitError.find(.ended(.superseded)) {
            outcome = "superseded"
        }
        try expect(outcome, isPossible ? "recovered" : "superseded", "finish the recovery for \(open.address)")
    }

    /// Enters second factors until one is accepted. A recovery whose account has no app any more is superseded.
    private mutating func enterFactor(in draft: Draft, of signups: Signups) async throws -> Draft {
        var accepted: Draft?
        while accepted == nil { accepted = try await tryFactor(in: draft, of: signups) }
        return accepted!
    }

    /// What the person types; anything if the account has no app.
    private func text(of factor: Factor?) -> String {
        guard let factor else { return "123456" }
        switch secondFactor(factor) {
        case .totp(let digits): return digits
        case .recoveryCode(let code): return code.text
        }
    }

    /// Nil if the factor was refused.
    private mutating func tryFactor(in draft: Draft, of signups: Signups) async throws -> Draft? {
        let factor = try await chooseFactor()
        let answers: Answers = ["second_factor": .string(text(of: factor))]
        let submitted: Outcome?
        do throws(SubmitError) {
            submitted = try await signups.submit(answers, to: signups.flow.steps[2], of: draft)
        } catch {
            guard case .refused = error else { throw error }
            submitted = nil
        }
        let expected = factor?.isRight == false ? "refused" : "accepted"
        let name = factor.map { "\($0)" } ?? "no app"
        try expect(submitted == nil ? "refused" : "accepted", expected, "\(name) in the recovery")
        if let factor, let submitted { use(factor, replacedBy: submitted.recoveryCodes.first) }
        return submitted?.draft
    }

    private mutating func startChange() async throws {
        guard let (index, session) = try await usable() else { return }
        let signups = following(.emailChange)
        let new = "\(next("a"))@example.com"
        let outcome: String
        do throws(StartError) {
            let (empty, token) = try await signups.startChange(by: session, in: .english)
            outcome = "started"
            changes.append(Open(draft: empty, token: token, session: index, address: new))
        } catch {
            if case .limited = error { outcome = "limited" } else { outcome = error.summary }
        }
        try expect(outcome, isPaused ? "limited" : "started", "session \(index) wants to move to \(new)")
        guard outcome == "started", let open = changes.popLast() else { return }
        let steps = signups.flow.steps
        let sent = try await signups.submit(["email": .string(new)], to: steps[0], of: open.draft).draft
        let code = try await Self.code(for: new, 0, service)
        let draft = try await signups.submit(["code": .string(code)], to: steps[1], of: sent).draft
        changes.append(Open(draft: draft, token: open.token, session: index, address: new))
    }

    private mutating func finishChange() async throws {
        guard let index = changes.indices.randomElement(using: &chance) else { return }
        let open = changes.remove(at: index)
        let isValid = open.session.map { sessions[$0].isValid } ?? false
        let isPossible = open.isCurrent && exists && !isDisabled && isValid && !isPaused
        let outcome: String
        do throws(CommitError) {
            let commit = try await following(.emailChange).commit(open.draft, signingIn: Self.client(open.token))
            outcome = commit.account.email == open.address ? "moved" : "another address"
            endSessions(but: open.session)
            if let kept = open.session, let session = commit.session { sessions[kept].token = session.token }
        } catch {
            if case .find(.ended(.superseded)) = error { outcome = "superseded" } else { outcome = error.summary }
        }
        try expect(outcome, isPossible ? "moved" : "superseded", "move to \(open.address)")
        guard isPossible else { return }
        left.append(Left(address: address, token: try await link(to: address)))
        address = open.address
        isPaused = true
        outdate()
    }

    private func link(to address: String) async throws -> AddressToken {
        while true {
            try await service.deliver()
            if let text = try? service.mailbox.undoToken(for: address), let token = AddressToken(text),
                !usedLinks.contains(where: { $0.id == token.id }), !left.contains(where: { $0.token.id == token.id })
            {
                return token
            }
            await Task.yield()
        }
    }

    private mutating func undo() async throws {
        let links = left.map(\.token) + usedLinks
        guard let token = links.randomElement(using: &chance) else { return }
        let index = left.firstIndex { $0.token.id == token.id }
        let outcome: String
        do throws(SignInError) {
            try await signIn().restoreAddress(token)
            outcome = "restored"
        } catch {
            outcome = error.word
        }
        let isPossible = exists && index != nil
        try expect(
            outcome,
            isPossible ? "restored" : "refused",
            "the link of \(index.map { left[$0].address } ?? "before")"
        )
        guard isPossible, let index else { return }
        address = left[index].address
        usedLinks += left[index...].map(\.token)
        left.removeSubrange(index...)
        password = nil
        app = nil
        isPaused = false
        endSessions()
        outdate()
    }

    private mutating func letADayPass() async throws {
        _ = try await service.database.transaction(
            "UPDATE address_changes SET changed_at = changed_at - interval '25 hours' WHERE account = \(account)"
        )
        isPaused = false
        log.append("a day passes")
    }

    private mutating func rename() async throws {
        guard let (index, session) = try await usable() else { return }
        let new = next("u")
        let step = service.signups.flow.editableSteps[0]
        let changed = try await signIn().edit(["username": .string(new)], in: step, of: session, in: .english)
        username = new
        try expect(changed.username ?? "none", new, "session \(index) takes another name")
    }

    private mutating func administrate() async throws {
        let mina = Operator(service.signups, name: "mina")
        switch Int.random(in: 0..<4, using: &chance) {
        case 0:
            let wasEnabled = try await mina.disable(account)
            try expect("\(wasEnabled, default: "none")", exists ? "\(!isDisabled)" : "none", "disable")
            isDisabled = true
            endSessions()
        case 1, 2:
            let wasDisabled = try await mina.enable(account)
            try expect("\(wasDisabled, default: "none")", exists ? "\(isDisabled)" : "none", "enable")
            isDisabled = false
        default:
            guard let (index, session) = try await usable() else { return }
            let outcome: String
            do throws(SignInError) {
                try await signIn().eraseAccount(of: session, in: .english)
                outcome = "erased"
            } catch {
                outcome = error.word
            }
            try expect(outcome, isPaused ? "limited" : "erased", "session \(index) erases the account")
            if isPaused { return }
            exists = false
            app = nil
            endSessions()
            outdate()
        }
    }

    /// What the rows of the account must be at the end.
    mutating func checkRows() async throws {
        let rows = try await service.database.transaction(
            "SELECT value FROM identifiers WHERE account = \(account) AND reserved_until IS NULL ORDER BY value",
            "SELECT value FROM identifiers WHERE account = \(account) AND reserved_until IS NOT NULL ORDER BY value",
            "SELECT count(*) FROM sessions WHERE account = \(account)",
            "SELECT count(*) FROM address_changes WHERE account = \(account)",
            "SELECT count(*) FROM authenticators WHERE account = \(account)",
            "SELECT digest FROM recovery_codes WHERE account = \(account)"
        )
        let used = try rows[0].map { row throws(DatabaseError) in try row.decode(String.self) }
        let reserved = try rows[1].map { row throws(DatabaseError) in try row.decode(String.self) }
        try expect("\(used)", "\(exists ? [address, username].sorted() : [])", "identifiers")
        try expect("\(reserved)", "\(exists ? left.map(\.address).sorted() : [])", "reserved addresses")
        let valid = sessions.count { $0.isValid }
        try expect("\(try rows[2].only.decode(Int.self))", "\(valid)", "sessions")
        try expect("\(try rows[3].only.decode(Int.self))", "\(exists ? left.count : 0)", "links")
        try expect("\(try rows[4].only.decode(Int.self))", app == nil ? "0" : "1", "apps")
        let digests = try rows[5].map { row throws(DatabaseError) in try row.decode([UInt8].self) }
        let hasThem = Set(digests) == Set((app?.codes ?? []).map(\.digest)) && digests.count == app?.codes.count ?? 0
        try expect("\(digests.count) \(hasThem)", app == nil ? "0 true" : "10 true", "recovery codes")
    }
}

extension SignInError {
    fileprivate var word: String {
        switch self {
        case .failed: "failed"
        case .noSession: "no session"
        case .noSuchFactor: "no such factor"
        case .refused: "refused"
        case .limited: "limited"
        default: "\(self)"
        }
    }
}
