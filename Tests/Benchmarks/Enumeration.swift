internal import Foundation

@testable import Accounts

/// Measures whether the time of a response reveals a registered address. Submits the e-mail step, and requests another
/// code, for new addresses, addresses of accounts and addresses of unfinished sign-ups, in random order.
enum Enumeration {
    private static let rounds = 2000
    /// The maximum difference between two medians.
    private static let target = Duration.milliseconds(1)

    private enum Kind: String, CaseIterable {
        case new, registered, pending

        func address(_ round: Int) -> String { "\(rawValue)\(round)@example.com" }
    }

    /// A client with a separate network, so that rate limits count each client separately.
    private struct Person {
        let headers: [String: String]

        init(_ number: Int, at service: Service) throws {
            headers = [
                "Authorization": "Bearer \(try service.start(number))", "X-Forwarded-For": Service.address(number),
            ]
        }
    }

    static func measure() throws {
        try measure(Service(), "while the mail server accepts")
        // No program listens on this port.
        try measure(Service(["SMTP_URL": "smtp://127.0.0.1:1"]), "while the mail server refuses")
        try MailArrival.measure()
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

    /// Empties the tables, and creates the accounts and the unfinished sign-ups.
    private static func prepare(_ service: Service) throws {
        try service.database.run(
            """
            TRUNCATE drafts, proofs, tickets, outbox, limits, accounts CASCADE;
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
        // Resets the rate limits, so that no address has used up a part of them.
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
        let response = try service.client.request(method, path, body, person.headers)
        let took = clock.now - start
        guard response.status == status else {
            throw Service.Failure(description: "\(method) \(path): \(response.status) \(response.body)")
        }
        return took
    }

    private static func print(_ times: [Kind: [Duration]], of what: String) {
        let base = times[.new]!.sorted()
        var table = Table("address", "median ms", "p99 ms", "median − new ms", "KS p")
        for kind in Kind.allCases {
            let sorted = times[kind]!.sorted()
            let difference = sorted[rounds / 2] - base[rounds / 2]
            let exceedsTarget = difference > target || difference < .zero - target
            table.append(
                kind.rawValue,
                sorted[rounds / 2].text(in: .milliseconds(1)),
                sorted[rounds * 99 / 100].text(in: .milliseconds(1)),
                String(format: "%+.3f", difference / .milliseconds(1)) + (exceedsTarget ? " !" : "  "),
                String(format: "%.3f  ", pValue(sorted, base))
            )
        }
        table.print(
            under: "\(what); \(rounds) requests each; the target is a difference of at most 1 ms between the medians"
        )
    }

    /// Returns the probability that two samples from one distribution differ at least as much as these samples
    /// (Kolmogorov–Smirnov test of two samples, with its asymptotic distribution). Both samples must be sorted.
    static func pValue(_ one: [Duration], _ other: [Duration]) -> Double {
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
