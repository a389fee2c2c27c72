import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Random sign-ups", .freshDatabase, .timeLimit(.minutes(30)))
struct RandomSignupsTests {
    private static let seed = ProcessInfo.processInfo.environment["SEED"].map { UInt64($0)! }

    /// Every run uses other seeds. `SEED=… swift test --filter RandomSignups` begins with the given seed.
    @Test func `a thousand random sign-ups behave as the model predicts`() async throws {
        try await TestSignups.with(connections: 9) { service in
            try await leaseTakenName(on: service)
            let first = Self.seed ?? .random(in: 0...UInt64(Int64.max))
            var runs = [await SignupRun(of: first, on: service)]
            // If a seed is given, the other sign-ups run only if the one with this seed succeeds.
            if Self.seed == nil || runs[0].failure == nil {
                runs += await run(first &+ 1, count: 999, on: service)
            }
            try await service.deliver()
            let mails = Dictionary(grouping: service.mailbox.mails.map(\.to), by: RandomPerson.tag)
            for index in runs.indices { runs[index].compare(mails) }

            // The shortest log is the easiest to follow.
            let failures = runs.filter { $0.failure != nil }.sorted { $0.lines.count < $1.lines.count }
            if let shortest = failures.first {
                let seeds = failures.prefix(20).map(\.seed)
                Issue.record("\(failures.count) of \(runs.count) failed, such as \(seeds)\n\(shortest)")
            }
        }
    }

    private func run(_ first: UInt64, count: Int, on service: TestSignups) async -> [SignupRun] {
        await withTaskGroup(of: [SignupRun].self) { group in
            let workers = 8
            for worker in 0..<workers {
                group.addTask {
                    var runs: [SignupRun] = []
                    for number in stride(from: worker, to: count, by: workers) {
                        runs.append(await SignupRun(of: first &+ UInt64(number), on: service))
                    }
                    return runs
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func leaseTakenName(on service: TestSignups) async throws {
        let flow = try Flow.asking([["name: username, kind: username, identifier: true"]])
        let draft = try await service.signups.start(in: .english).draft
        _ = try await service.signups.asking(flow).submit(
            ["username": .string(RandomPerson.takenName)],
            to: flow.steps[0],
            of: draft
        )
    }
}

/// The log of one random sign-up. `failure` is the first difference from the model; nil if there is none.
private struct SignupRun: CustomStringConvertible, Sendable {
    let seed: UInt64
    private(set) var lines: [String] = []
    private(set) var failure: String?
    private var mails: [String: Int] = [:]

    init(of seed: UInt64, on service: TestSignups) async {
        self.seed = seed
        do {
            var signup = try await RandomSignup(seed: seed, on: service)
            do {
                for _ in 0..<Int.random(in: 5...15, using: &signup.chance) { try await signup.act() }
            } catch {
                failure = "\(error)"
            }
            (lines, mails) = (signup.log, signup.model.mails)
        } catch {
            failure = "\(error)"
        }
    }

    /// Compares the delivered mails with those that the model expects.
    ///
    /// - Parameter recipients: the addresses of all delivered mails, by the tag of the person.
    mutating func compare(_ recipients: [String: [String]]) {
        let delivered = recipients[RandomPerson.tag(of: seed), default: []].tally
        if failure == nil, delivered != mails { failure = "mails:\n  expected \(mails)\n  but was  \(delivered)" }
    }

    var description: String {
        "SEED=\(seed)\n\(lines.joined(separator: "\n"))\n\(failure ?? "")"
    }
}

extension Signups {
    /// The same service with another flow. It keeps its limits, and processes no images.
    fileprivate func asking(_ flow: Flow) -> Signups {
        var flow = flow
        flow.limits = self.flow.limits
        return Signups(
            flow: flow,
            serviceName: serviceName,
            database: database,
            keys: keys,
            hashing: hashing,
            images: .none,
            outbox: outbox
        )
    }
}

/// One person's sign-up, during which the flow changes, and the model of it.
private struct RandomSignup {
    var chance: SeededChance
    private(set) var model: SignupModel
    /// The flow file at the start, and then one line for each action.
    private(set) var log: [String]
    private let person: RandomPerson
    private let service: TestSignups
    private let token: Token<Draft>
    private var signups: Signups
    private var draft: Draft
    private var lastAnswers: [StepName: [(field: FieldName, answer: RandomAnswer)]] = [:]

    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    init(seed: UInt64, on service: TestSignups) async throws {
        chance = SeededChance(seed: seed)
        let flow = RandomFlow(using: &chance)
        model = SignupModel(flow: flow)
        log = [flow.yaml]
        self.service = service
        signups = service.signups.asking(try Flow(yaml: flow.yaml, file: "random.yaml"))
        (draft, token) = try await signups.start(in: chance.happens(in: 50) ? .english : .korean)
        let year = CivilDate(draft.now, in: .gmt).year
        person = RandomPerson(tag: RandomPerson.tag(of: seed), year: year)
    }

    // MARK: - Actions

    mutating func act() async throws {
        let step = model.flow.steps.randomElement(using: &chance)!
        let next = model.next ?? step
        switch Int.random(in: 0..<100, using: &chance) {
        case ..<40: try await submit(answers(to: next, with: .careful), to: next)
        case ..<60: try await submit(answers(to: step, with: .careless), to: step)
        case ..<70:
            let known = model.flow.steps.filter { lastAnswers[$0.name] != nil }
            guard let back = known.randomElement(using: &chance) else { return }
            let isSame = chance.happens(in: 50)
            try await submit(isSame ? lastAnswers[back.name]! : answers(to: back, with: .careful), to: back)
        case ..<76: try await clear(step)
        case ..<82:
            let code = model.flow.fields.first { if case .code = $0.rule { true } else { false } }
            try await resend(code.flatMap { model.flow.step(of: $0.name) } ?? step)
        case ..<86: try await letPass(minutes: chance.happens(in: 70) ? 1 : 10)
        default: try await changeFlow()
        }
    }

    private mutating func answers(
        to step: RandomFlow.Step,
        with care: RandomPerson.Care
    ) -> [(field: FieldName, answer: RandomAnswer)] {
        if step.isOptional ? chance.happens(in: 20) : care == .careless && chance.happens(in: 5) { return [] }
        var answers: [(field: FieldName, answer: RandomAnswer)] = []
        for field in step.fields {
            var answer = person.answer(
                to: field,
                with: care,
                digits: model.codes[field.name]?.digits,
                using: &chance
            )
            // A random confirmation would hardly ever equal the random password.
            if case .confirmation = field.rule, chance.happens(in: 85),
                case .password(let password)? = answers.last?.1.meaning
            {
                answer = RandomAnswer(.password(password), .repetition(password))
            }
            answers.append((field.name, answer))
        }
        if care == .careless, chance.happens(in: 10) { answers.append(("nonsense", RandomAnswer("?", .text("?")))) }
        return answers
    }

    private mutating func submit(
        _ answers: [(field: FieldName, answer: RandomAnswer)],
        to step: RandomFlow.Step
    ) async throws {
        lastAnswers[step.name] = answers
        let described = answers.map { "\($0.field): \($0.answer.meaning)" }.joined(separator: ", ")
        let members = answers.compactMap { field, answer in answer.answer.map { Answers.Member(field, $0) } }
        let expected = model.submit(answers, to: step)
        let (signups, draft) = (signups, draft)
        try await compare("submit \(described) to \(step.name)", expected) {
            try await signups.submit(Answers(members), to: signups.flow.step(named: step.name)!, of: draft)
        }
    }

    private mutating func clear(_ step: RandomFlow.Step) async throws {
        let expected = model.clear(step)
        let (signups, draft) = (signups, draft)
        try await compare("clear \(step.name)", expected) {
            try await signups.clear(signups.flow.step(named: step.name)!, of: draft)
        }
    }

    private mutating func resend(_ step: RandomFlow.Step) async throws {
        let expected = model.resend(step)
        let (signups, draft) = (signups, draft)
        try await compare("resend \(step.name)", expected) {
            _ = try await signups.resend(signups.flow.step(named: step.name)!, of: draft)
            return nil
        }
    }

    /// Moves only the times of this draft into the past, because other sign-ups use the same database concurrently.
    private mutating func letPass(minutes: Int) async throws {
        model.letPass(seconds: 60 * minutes)
        let (database, id) = (signups.database, draft.id)
        let subjects = model.mails.keys.map { address in
            signups.charge(.resend, Limit(1, per: .seconds(60)), [id.bytes, Array(address.utf8)]).subjects[0]
        }
        try await compare("let \(minutes) minutes pass", "done") {
            _ = try await database.transaction(
                """
                UPDATE proofs SET sent_at = sent_at - make_interval(secs => \(60 * minutes)),
                                  expires_at = expires_at - make_interval(secs => \(60 * minutes))
                 WHERE draft = \(id)
                """,
                """
                UPDATE limits SET hits = ARRAY(SELECT hit - make_interval(secs => \(60 * minutes)) FROM unnest(hits) AS hit)
                 WHERE subject = ANY (\(ByteStrings(subjects)))
                """
            )
            return nil
        }
    }

    private mutating func changeFlow() async throws {
        for _ in 0..<Int.random(in: 1...3, using: &chance) { model.flow = model.flow.edited(using: &chance) }
        signups = signups.asking(try Flow(yaml: model.flow.yaml, file: "random.yaml"))
        // The changed rules may refuse an invalid answer for another reason than the model expects.
        lastAnswers = lastAnswers.filter { !$0.value.contains { $0.answer.isNonsense } }
        try await compare("the flow is now\n\(model.flow.yaml)", "done") { nil }
    }

    // MARK: - Comparison with the model

    private mutating func compare(_ act: String, _ expected: String, _ body: () async throws -> Outcome?) async throws {
        log.append("\(log.count). \(act): \(expected)")
        var made: Outcome?
        let ending = await outcome { made = try await body() }
        let actual = made.map { SignupModel.done($0.cleared) } ?? ending
        try require(actual, equals: expected, "outcome")

        let before = draft
        draft = try await signups.find(token)
        try await readMail()
        try require(report(of: draft), equals: model.report, "draft")
        let isReady = signups.progress(of: draft).isReady
        let obstacles = try await Operator(signups, name: "mina").obstacles(of: draft).filter { !$0.isTaken }
        try require(
            obstacles.isEmpty ? "nothing" : "something",
            equals: isReady ? "nothing" : "something",
            "obstacles"
        )
        if let made {
            try require(report(of: made.draft), equals: model.report, "returned draft")
        } else {
            let isSame = draft.values == before.values && draft.revision == before.revision
            try require(isSame ? "same" : "changed", equals: "same", "stored draft")
        }
    }

    private func require(_ actual: String, equals expected: String, _ what: String) throws {
        guard actual != expected else { return }
        throw Mismatch(description: "\(what):\n  expected \(expected)\n  but was  \(actual)")
    }

    private func report(of draft: Draft) -> String {
        let progress = signups.progress(of: draft)
        var values: [FieldName: JSON] = [:]
        for field in draft.values.fields {
            switch draft.values.json(of: field)! {
            case _ where field == "password": values[field] = "set"
            case let consent where consent["accepted"] != nil:
                values[field] = ["accepted": consent["accepted"]!, "version": consent["version"] ?? nil]
            case let value: values[field] = value
            }
        }
        return SignupModel.report(
            states: signups.flow.steps.map { ($0.name, progress.states[$0.name]!) },
            next: progress.next?.name,
            missing: progress.missing,
            progress: (progress.done, progress.total),
            isReady: progress.isReady,
            values: values,
            proved: signups.flow.fields.map(\.name).filter { draft.proofs[$0]?.isProved == true }
        )
    }

    /// Reads the code of each expected mail, before another mail is sent to the same address.
    private mutating func readMail() async throws {
        for (field, code) in model.codes where code.digits == nil {
            let deadline = ContinuousClock.now + .seconds(300)
            // Another sign-up may be delivering the mail.
            while service.mailbox.mails.count(where: { $0.to == code.address }) < model.mails[code.address]! {
                guard ContinuousClock.now < deadline else { throw Mismatch(description: "no mail to \(code.address)") }
                if try await !service.sender.deliverNext() { await Task.yield() }
            }
            model.read(try service.mailbox.code(for: code.address), from: field)
        }
    }
}

extension Obstacle {
    /// True for a taken name. The comparison with the model ignores it, because only the database knows taken names.
    fileprivate var isTaken: Bool { if case .taken = reason { true } else { false } }
}
