internal import Foundation

@testable import Accounts

/// Whether the time of an answer tells who is registered: the e-mail step and its resend for addresses that nobody has,
/// that an account has, and with which somebody else is half signed up, interleaved in random order.
enum Enumeration {
    private static let rounds = 2000
    /// Medians may differ by so much (security.md D2).
    private static let target = Duration.milliseconds(1)

    private enum Kind: String, CaseIterable {
        case new, registered, pending

        func address(_ round: Int) -> String { "\(rawValue)\(round)@example.com" }
    }

    /// Somebody from a network of their own, so that nobody uses up another's allowance.
    private struct Person {
        let headers: [String: String]

        init(_ number: Int, at service: Service) throws {
            headers = [
                "Authorization": "Bearer \(try service.start(number))", "X-Forwarded-For": Service.address(number),
            ]
        }
    }

    static func measure() throws {
        try measure(Service(), "where mail is taken")
        // Nobody listens there.
        try measure(Service(["SMTP_URL": "smtp://127.0.0.1:1"]), "while the mail server refuses")
    }

    private static func measure(_ service: Service, _ context: String) throws {
        try prepare(service)
        var people: [Kind: [Person]] = [:]
        var number = rounds
        for _ in 0..<rounds {
            for kind in Kind.allCases {
                people[kind, default: []].append(try Person(number, at: service))
                number += 1
            }
        }
        var chance = SeededChance(seed: 1)
        var times: [Kind: [Duration]] = [:]
        for round in 0..<rounds {
            for kind in Kind.allCases.shuffled(using: &chance) {
                let body: JSON = ["email": .string(kind.address(round))]
                times[kind, default: []].append(
                    try time(service, people[kind]![round], "PUT", "/signup/email", body, status: 200)
                )
            }
        }
        print(times, of: "The e-mail step, \(context)")

        try service.database.run("UPDATE proofs SET sent_at = sent_at - interval '2 minutes'; DELETE FROM limits")
        times = [:]
        for round in 0..<rounds {
            for kind in Kind.allCases.shuffled(using: &chance) {
                times[kind, default: []].append(
                    try time(service, people[kind]![round], "POST", "/signup/code/resend", nil, status: 202)
                )
            }
        }
        print(times, of: "A resend, \(context)")
    }

    /// Empties the database, and makes the accounts and the drafts of others.
    private static func prepare(_ service: Service) throws {
        try service.database.run(
            """
            TRUNCATE drafts, proofs, outbox, limits, accounts CASCADE;
            WITH account AS (
                INSERT INTO accounts (id, email, profile, locale, flow)
                SELECT gen_random_uuid(), 'registered' || number || '@example.com', '{}', 'en', 'default@1'
                  FROM generate_series(0, \(rounds - 1)) AS number RETURNING id, email
            ) INSERT INTO identifiers (kind, value, account) SELECT 'email', email, id FROM account;
            """
        )
        for number in 0..<rounds {
            let body: JSON = ["email": .string(Kind.pending.address(number))]
            _ = try time(service, try Person(number, at: service), "PUT", "/signup/email", body, status: 200)
        }
        // As it is an hour later, so that the address's own allowance is the same for all.
        try service.database.run("DELETE FROM limits")
        try service.database.run("VACUUM ANALYZE")
    }

    private static func time(
        _ service: Service,
        _ person: Person,
        _ method: String,
        _ path: String,
        _ body: JSON?,
        status: Int
    ) throws -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        let answer = try service.client.ask(method, path, body, person.headers)
        let took = clock.now - start
        guard answer.status == status else {
            throw Service.Failure(description: "\(method) \(path): \(answer.status) \(answer.body)")
        }
        return took
    }

    private static func print(_ times: [Kind: [Duration]], of what: String) {
        let base = times[.new]!.sorted()
        var table = Table("address", "median ms", "p99 ms", "median − new ms", "KS p")
        for kind in Kind.allCases {
            let sorted = times[kind]!.sorted()
            let difference = sorted[rounds / 2] - base[rounds / 2]
            let isOver = difference > target || difference < .zero - target
            table.append(
                kind.rawValue,
                sorted[rounds / 2].told(in: .milliseconds(1)),
                sorted[rounds * 99 / 100].told(in: .milliseconds(1)),
                String(format: "%+.3f", difference / .milliseconds(1)) + (isOver ? " !" : "  "),
                String(format: "%.3f  ", likeness(sorted, base))
            )
        }
        table.print(under: "\(what); \(rounds) requests each, and medians within 1 ms")
    }

    /// How likely two samples of one distribution differ as much as these (the two-sample test of Kolmogorov and Smirnov,
    /// with its asymptotic distribution).
    private static func likeness(_ one: [Duration], _ other: [Duration]) -> Double {
        var (first, second) = (0, 0)
        var greatest = 0.0
        while first < one.count, second < other.count {
            let next = min(one[first], other[second])
            while first < one.count, one[first] == next { first += 1 }
            while second < other.count, other[second] == next { second += 1 }
            greatest = max(greatest, abs(Double(first) / Double(one.count) - Double(second) / Double(other.count)))
        }
        let scaled = greatest * (Double(one.count * other.count) / Double(one.count + other.count)).squareRoot()
        if scaled < 0.3 { return 1 }
        let terms = (1...100).map { k in (k % 2 == 1 ? 2 : -2) * exp(-2 * pow(Double(k) * scaled, 2)) }
        return min(1, max(0, terms.reduce(0, +)))
    }
}
