internal import Foundation
internal import Synchronization

@testable import Accounts

/// Measures whole sign-ups with the default flow, whose codes are printed instead of mailed, compared with the password
/// hashes that as many threads compute without a server; with several numbers and priorities of hashing threads.
enum WholeSignups {
    private static let clients = 32

    static func measure(into report: inout Report, _ extent: Extent) async throws {
        let designs = [
            Design("default", workers: Storm.workers.normal, priority: "idle"),
            Design("one for each core", workers: Storm.workers.all, priority: "idle"),
            Design("default, normal priority", workers: Storm.workers.normal, priority: "normal"),
        ]
        for (number, design) in designs.enumerated() { try design.start(on: "signups_\(number)") }
        for _ in 0..<extent.rounds {
            for design in designs { try await design.measure(for: extent.run) }
        }
        report.add(
            Goal(
                "whole sign-ups a second ÷ raw hashes of as many threads",
                atLeast: 0.85,
                designs[0].rounds.map(\.ratio)
            )
        )
        var table = Table(
            "hashing threads",
            "sign-ups a second",
            "raw hashes a second",
            "ratio",
            "hashing ms",
            "rest of the server ms",
            "PostgreSQL ms",
            "clients ms"
        )
        for design in designs {
            func ms(_ part: (ProcessorTime) -> Duration) -> String {
                String(format: "%.1f", design.rounds.map { part($0.cost) / .milliseconds(1) }.median)
            }
            table.append(
                "\(design.workers), \(design.name)",
                String(format: "%.1f", design.rounds.map(\.signups).median),
                String(format: "%.1f", design.rounds.map(\.hashes).median),
                String(format: "%.2f", design.rounds.map(\.ratio).median),
                ms(\.hashing),
                ms(\.server),
                ms(\.database),
                ms(\.load)
            )
        }
        report.add(
            table,
            under:
                "Whole sign-ups, \(clients) people at a time, eight requests and a mailed code each; processor time of each"
        )
    }

    /// A server with its own number of hashing threads, and its measurements.
    private final class Design {
        let name: String
        let workers: Int
        private let priority: String
        private var service: Service!
        private(set) var rounds: [Round] = []

        struct Round {
            let signups, hashes: Double
            /// Of one sign-up.
            let cost: ProcessorTime

            var ratio: Double { signups / hashes }
        }

        init(_ name: String, workers: Int, priority: String) {
            (self.name, self.workers, self.priority) = (name, workers, priority)
        }

        func start(on name: String) throws {
            let conninfo = try Population.database(name)
            service = try Service(
                [
                    "ARGON2_WORKERS": "\(workers)", "ARGON2_PRIORITY": priority, "ARGON2_QUEUE": "64",
                    "ARGON2_WAIT": "60",
                ],
                on: conninfo
            )
        }

        func measure(for time: Duration) async throws {
            let hashes = try await Calibration.measure(Argon2Parameters(), workers: workers, samples: 100).perSecond
            // Each round begins with unused limits of mails.
            try service.database.run("DELETE FROM limits")
            let postmaster = try Service.postmaster(of: service.database)
            let before = try ProcessorTime(of: service, postmaster: postmaster)
            let (rate, count) = try WholeSignups.rate(of: service, for: time)
            let cost = (try ProcessorTime(of: service, postmaster: postmaster) - before) / count
            rounds.append(Round(signups: rate, hashes: hashes, cost: cost))
        }
    }

    /// Returns the sign-ups a second, and the number of all sign-ups.
    private static func rate(of service: Service, for time: Duration) throws -> (rate: Double, count: Double) {
        let first = Int.random(in: 0..<1_000_000_000)
        let done = Mutex<[ContinuousClock.Instant]>([])
        let failure = Mutex<(any Error)?>(nil)
        // The first second, which fills the queue, is not counted.
        let start = ContinuousClock.now + .seconds(1)
        let end = start + time
        let threads = (0..<clients).map { client in
            DedicatedThread(named: "client-\(client)") {
                let http = Client(port: service.port)
                var round = 0
                do {
                    while ContinuousClock.now < end {
                        try signUp(first + client * 100_000 + round, with: http, at: service)
                        done.withLock { $0.append(.now) }
                        round += 1
                    }
                } catch {
                    failure.withLock { $0 = error }
                }
            }
        }
        for thread in threads { thread.join() }
        if let failure = failure.withLock({ $0 }) { throw failure }
        let times = done.withLock { $0 }
        return (Double(times.count { $0 >= start && $0 < end }) / (time / .seconds(1)), Double(times.count))
    }

    /// Signs up the person with this number.
    ///
    /// - Returns: how long the commit took.
    @discardableResult
    static func signUp(_ number: Int, with client: Client, at service: Service) throws -> Duration {
        let address = "person\(number)@example.org"
        var headers = ["X-Forwarded-For": Service.address(number & 0xFF_FFFF)]
        func request(_ method: String, _ path: String, _ body: JSON?, expecting status: Int) throws -> Client.Response {
            let response = try client.request(method, path, body, headers)
            guard response.status == status else {
                throw Service.Failure(description: "\(method) \(path): \(response.status) \(response.body)")
            }
            return response
        }
        let started = try request("POST", "/signup", ["transport": "bearer"], expecting: 201)
        guard let token = Service.token(in: started.body) else { throw Service.Failure(description: started.body) }
        headers["Authorization"] = "Bearer \(token)"
        let password = "four plain words here"
        _ = try request("PUT", "/signup/email", ["email": .string(address)], expecting: 200)
        _ = try request("PUT", "/signup/code", ["code": .string(service.code(for: address))], expecting: 200)
        _ = try request(
            "PUT",
            "/signup/password",
            ["password": .string(password), "confirmation": .string(password)],
            expecting: 200
        )
        _ = try request(
            "PUT",
            "/signup/profile",
            ["username": .string("k\(String(number, radix: 36))"), "display_name": "A Person"],
            expecting: 200
        )
        _ = try request("PUT", "/signup/contact", ["birth_date": "1990-05-17"], expecting: 200)
        _ = try request("PUT", "/signup/terms", ["terms": true], expecting: 200)
        let start = ContinuousClock.now
        _ = try request("POST", "/signup/commit", nil, expecting: 201)
        return ContinuousClock.now - start
    }
}
