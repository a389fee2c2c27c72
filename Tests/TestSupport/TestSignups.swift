package import Accounts
package import Foundation
internal import Logging
internal import Synchronization

/// The whole library on the database of the running test, with a mailbox instead of a mail server.
package struct TestSignups: Sendable {
    package let database: Database
    package let signups: Signups
    package let sender: OutboxSender
    package let mailbox: Mailbox
    private let outbox: Outbox

    /// Lends a service, and shuts it down afterwards.
    ///
    /// - Parameters:
    ///   - flow: the flow as YAML; nil for the built-in flow.
    ///   - languages: those that the service has.
    ///   - limits: limits that replace those of the flow; nil keeps the limits of the flow.
    ///   - waitingRequests: the maximum number of requests that wait for one draft; by default one that no test reaches.
    @discardableResult
    package static func with<Value>(
        flow yaml: String? = nil,
        languages: [Language] = Language.builtIn,
        keys: String = Self.keys,
        conninfo: String? = nil,
        connections: Int = 4,
        hashing: HashingPool? = nil,
        breached: BreachedPasswords? = nil,
        limits: Limits? = .lavish,
        waitingRequests: Int = .max,
        timeouts: StatementTimeouts = .lavish,
        metrics: Metrics = Metrics(),
        _ body: (TestSignups) async throws -> Value
    ) async throws -> Value {
        let database = Database(
            conninfo ?? FreshDatabase.current.conninfo,
            connections: connections,
            timeouts: timeouts,
            metrics: metrics,
            logger: .silent
        )
        do {
            let service = try TestSignups(
                database,
                flow: yaml,
                languages: languages,
                keys: keys,
                hashing: hashing ?? Self.hashing.get(),
                breached: breached,
                limits,
                waitingRequests
            )
            try await service.signups.partitions.load(from: database)
            let value = try await body(service)
            await database.shutdown()
            return value
        } catch {
            await database.shutdown()
            throw error
        }
    }

    private init(
        _ database: Database,
        flow yaml: String?,
        languages: [Language],
        keys text: String,
        hashing: HashingPool,
        breached: BreachedPasswords?,
        _ limits: Limits?,
        _ waitingRequests: Int
    ) throws {
        var flow =
            try yaml.map { try Flow(yaml: $0, file: "test.yaml", among: languages) } ?? .standard(among: languages)
        if let limits { flow.limits = limits }
        let keys = try KeyRing(text)
        let outbox = Outbox(keys: keys, languages: languages)
        let mailbox = Mailbox()
        self.database = database
        self.mailbox = mailbox
        self.outbox = outbox
        signups = Signups(
            flow: flow,
            serviceName: "Acme",
            database: database,
            keys: keys,
            hashing: hashing,
            breached: breached,
            images: Self.images,
            outbox: outbox,
            waitingRequests: waitingRequests
        )
        sender = Self.sender(of: outbox, for: flow, on: database, to: mailbox)
    }

    private static func sender(
        of outbox: Outbox,
        for flow: Flow,
        on database: Database,
        to mailer: any Mailer
    ) -> OutboxSender {
        OutboxSender(
            outbox: outbox,
            database: database,
            mailers: [mailer],
            from: "no-reply@acme.example",
            serviceName: "Acme",
            publicURL: "http://localhost:8080",
            recoversSignIn: flow.recoversSignIn,
            contact: "https://acme.example/help",
            logger: .silent
        )
    }

    /// A key ring with one key.
    package static let keys = "test:v2:" + Data(repeating: 7, count: 32).base64EncodedString()

    /// The image workers of all tests. They run the executable that was built with the tests. Because of their low
    /// priority, they get little processor time while other tests run, so they have more time on the clock.
    package static let images = ImagePool(
        program: program.path,
        workers: 2,
        queue: 100,
        maximumWait: .seconds(3600),
        wallSeconds: 300
    )

    package static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "accounts-api")

    /// The hashing pool of all tests, with the cheapest parameters that meet `Argon2Parameters.floor`.
    private static let hashing = Result {
        try HashingPool(parameters: Argon2Parameters(memoryKiB: 7168, iterations: 5), workers: 2, queue: 512)
    }
}

// MARK: - Actions of a person

extension TestSignups {
    /// Answers to every required field of the built-in flow except the code.
    package static func answers(email: String, username: String) -> [StepName: Answers] {
        [
            "email": ["email": .string(email)],
            "password": [
                "password": .password("a pass phrase of mine"), "confirmation": .password("a pass phrase of mine"),
            ],
            "profile": ["username": .string(username), "display_name": "Kim"],
            "contact": ["birth_date": "2001-02-28"],
            "totp": [:],
            "terms": ["terms": true],
        ]
    }

    package func start(in language: Language = .english) async throws -> Draft {
        try await signups.start(in: language).draft
    }

    package func submit(_ answers: Answers, to step: StepName, of draft: Draft) async throws(SubmitError) -> Draft {
        try await signups.submit(answers, to: signups.flow.step(named: step)!, of: draft).draft
    }

    /// Submits the steps in order, up to and including `last`, with the code from the mailbox.
    package func fill(
        _ draft: Draft,
        through last: StepName = "terms",
        email: String = "kim@example.com",
        username: String = "kim"
    ) async throws -> Draft {
        var draft = draft
        let answers = Self.answers(email: email, username: username)
        for step in signups.flow.steps {
            let answer: Answers =
                try await step.name == "code" ? ["code": .string(readCode(for: email))] : answers[step.name]!
            draft = try await submit(answer, to: step.name, of: draft)
            if step.name == last { break }
        }
        return draft
    }

    /// A complete draft that can be committed.
    package func readyDraft(email: String = "kim@example.com", username: String = "kim") async throws -> Draft {
        try await fill(start(), email: email, username: username)
    }

    /// Delivers all due mail, and returns the code in the last mail to the address.
    package func readCode(for address: String) async throws -> String {
        try await deliver()
        return try mailbox.code(for: address)
    }

    /// Delivers all mail that is due.
    package func deliver() async throws {
        while try await sender.deliverNext() {}
    }

    /// Makes one attempt to deliver the mail whose turn it is, to a real mail server with these options.
    package func deliverNext(to options: MailCatcher.Option...) async throws {
        let catcher = try await MailCatcher.start(options)
        let mailer = try SMTPMailer(to: SMTPServer(url: catcher.url))
        let sender = Self.sender(of: outbox, for: signups.flow, on: database, to: mailer)
        let hasTried = try await sender.deliverNext()
        await mailer.shutdown()
        try await catcher.stop()
        precondition(hasTried, "no mail is due")
    }
}

extension Limits {
    /// Limits that no test reaches, except tests of limits.
    package static let lavish = Limits(
        byName: Dictionary(uniqueKeysWithValues: Name.allCases.map { ($0, Limit(100_000, per: .seconds(3600))) }),
        revisions: 1_000_000
    )
}

extension StatementTimeouts {
    /// Long enough for what a test holds back on a busy machine. As in the service, what waits for a lock soon leaves its
    /// connection to others.
    package static let lavish = {
        var timeouts = StatementTimeouts.standard
        (timeouts.statement, timeouts.parkedLock) = (.seconds(3600), .seconds(3600))
        return timeouts
    }()
}

/// A mailer that keeps the mail in memory.
package final class Mailbox: Mailer {
    private struct State {
        var mails: [Mail] = []
        var byAddress: [String: [Mail]] = [:]
        var attempts: [Mail] = []
        var refusal: MailError?
    }

    private let state = Mutex(State())

    package struct NoMail: Error {}

    package var mails: [Mail] { state.withLock { $0.mails } }
    /// All mails in the order of their attempts, including the refused ones.
    package var attempts: [Mail] { state.withLock { $0.attempts } }

    /// Makes every following mail fail with the error; nil accepts mail again.
    package func refuse(with error: MailError?) {
        state.withLock { $0.refusal = error }
    }

    package func send(_ mail: Mail) async throws(MailError) -> String? {
        let refusal = state.withLock { state in
            state.attempts.append(mail)
            if state.refusal == nil {
                state.mails.append(mail)
                state.byAddress[mail.to, default: []].append(mail)
            }
            return state.refusal
        }
        if let refusal { throw refusal }
        return nil
    }

    package func mails(to address: String) -> [Mail] { state.withLock { $0.byAddress[address] ?? [] } }

    /// The code in the last mail to the address: the six digits on a line of their own.
    package func code(for address: String) throws -> String {
        guard let mail = mails(to: address).last, let code = Self.code(in: mail.text) else {
            throw NoMail()
        }
        return code
    }

    /// The ticket in the last link to `/signup/ticket` that was mailed to the address.
    package func ticket(for address: String) throws -> String {
        try ticket(for: address, linkedTo: "/signup/ticket")
    }

    /// The ticket in the last link to `/session/ticket` that was mailed to the address.
    package func signInTicket(for address: String) throws -> String {
        try ticket(for: address, linkedTo: "/session/ticket")
    }

    /// The ticket in the last link to `/recovery/ticket` that was mailed to the address.
    package func recoveryTicket(for address: String) throws -> String {
        try ticket(for: address, linkedTo: "/recovery/ticket")
    }

    /// The token in the last link to `/email-change/undo` that was mailed to the address. The link restores the
    /// address.
    package func undoToken(for address: String) throws -> String {
        try secret(named: "token", for: address, linkedTo: "/email-change/undo")
    }

    private func ticket(for address: String, linkedTo path: String) throws -> String {
        try secret(named: "ticket", for: address, linkedTo: path)
    }

    private func secret(named name: String, for address: String, linkedTo path: String) throws -> String {
        let starts = ["?", "#"].map { "http://localhost:8080\(path)\($0)\(name)=" }
        let lines = mails(to: address).flatMap { $0.text.split(separator: "\n") }
        guard let link = lines.last(where: { line in starts.contains { line.hasPrefix($0) } }) else { throw NoMail() }
        return String(link.dropFirst(starts[0].count))
    }

    package static func code(in text: String) -> String? {
        let lines: [Substring] = text.split(whereSeparator: \.isNewline)
        return lines.first { $0.count == 6 && $0.allSatisfy(\.isWholeNumber) }.map(String.init)
    }
}
