internal import Foundation

@testable import Accounts

/// Measures when mail arrives, with a mail server that takes 100 ms for each mail.
///
/// An attacker enters an address several times and then their own. If the time until their own mail depends on whether
/// the address has an account, it reveals that. The second measurement is the time until fifty mails have left.
enum MailArrival {
    private static let delay = Duration.milliseconds(100)
    private static let rounds = 50
    /// The number of mails to the tested address that the attacker causes before the mail to the own address.
    private static let requests = 5
    private static let burst = 50

    static func measure() throws {
        try measureProbes()
        try measureBurst()
    }

    /// Measures with one connection and with ten. With one, each mail waits for the mail before it, which helps the
    /// attacker most.
    private static func measureProbes() throws {
        for connections in [1, 10] {
            let sink = try MailSink(delay: delay)
            let service = try Service(["SMTP_URL": sink.url, "SMTP_CONNECTIONS": "\(connections)"])
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
            var chance = SeededChance(seed: 1)
            var times: [String: [Duration]] = [:]
            var number = connections * 100_000
            for round in 0..<rounds {
                for kind in ["new", "registered"].shuffled(using: &chance) {
                    for _ in 0..<requests {
                        try enter("\(kind)\(round)@example.com", as: number, at: service)
                        number += 1
                    }
                    let probe = "probe-\(kind)\(round)@example.com"
                    try enter(probe, as: number, at: service)
                    number += 1
                    let start = ContinuousClock.now
                    times[kind, default: []].append(try sink.arrival(of: probe) - start)
                    try waitUntilNoMailWaits(service)
                }
            }
            print(times, connections)
        }
    }

    private static func measureBurst() throws {
        let sink = try MailSink(delay: delay)
        let service = try Service(["SMTP_URL": sink.url])
        try service.database.run("TRUNCATE drafts, proofs, outbox, limits, accounts CASCADE")
        let people = try (0..<burst).map { ($0, try service.start($0)) }
        let start = ContinuousClock.now
        for (number, token) in people {
            try submit("burst\(number)@example.com", with: token, as: number, at: service)
        }
        let answered = ContinuousClock.now
        var last = start
        for (number, _) in people { last = max(last, try sink.arrival(of: "burst\(number)@example.com")) }
        var table = Table("\(burst) mails", "ms")
        table.append("all requests are answered", (answered - start).text(in: .milliseconds(1)))
        table.append("all mails are accepted", (last - start).text(in: .milliseconds(1), target: .seconds(1)))
        table.print(under: "A burst of mails, with 100 ms for each mail; the target is 1 s")
    }

    private static func waitUntilNoMailWaits(_ service: Service) throws {
        while try service.database.query("SELECT EXISTS (SELECT FROM outbox WHERE state = 'waiting')").only
            .decode(Bool.self)
        {
            Thread.sleep(forTimeInterval: 0.005)
        }
    }

    /// Starts a sign-up from a separate network, and enters the address.
    private static func enter(_ address: String, as number: Int, at service: Service) throws {
        try submit(address, with: try service.start(number), as: number, at: service)
    }

    private static func submit(_ address: String, with token: String, as number: Int, at service: Service) throws {
        let response = try service.client.request(
            "PUT",
            "/signup/email",
            ["email": .string(address)],
            ["Authorization": "Bearer \(token)", "X-Forwarded-For": Service.address(number)]
        )
        guard response.status == 200 else {
            throw Service.Failure(description: "PUT /signup/email: \(response.status) \(response.body)")
        }
    }

    private static func print(_ times: [String: [Duration]], _ connections: Int) {
        var table = Table("address", "median ms", "KS p")
        for (kind, sample) in times.sorted(by: { $0.key < $1.key }) {
            let sorted = sample.sorted()
            table.append(
                kind,
                sorted[sorted.count / 2].text(in: .milliseconds(1)),
                String(format: "%.3f  ", Enumeration.pValue(sorted, times["new"]!.sorted()))
            )
        }
        table.print(
            under: """
                Arrival of a mail after \(requests) requests for another address; \(rounds) rounds each, connections \
                to the mail server: \(connections), 100 ms for each mail
                """
        )
    }
}
