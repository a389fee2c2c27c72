internal import Foundation
internal import Synchronization

@testable import Accounts

/// Measures whole sign-ups with the default flow, whose codes are printed instead of mailed, compared with the password
/// hashes that as many threads compute without a server.
enum WholeSignups {
    private static let clients = 32

    static func measure(into report: inout Report, _ extent: Extent) async throws {
        let conninfo = try Population.database("signups")
        let service = try Service(["ARGON2_QUEUE": "64", "ARGON2_WAIT": "60"], on: conninfo)
        let postmaster = try Service.postmaster(of: service.database)
        var figures: [(signups: Double, hashes: Double)] = []
        var costs: [ProcessorTime] = []
        for _ in 0..<extent.rounds {
            let hashes = try await Calibration.measure(Argon2Parameters(), workers: workers, samples: 100).perSecond
            // Each round begins with unused limits of mails.
            try service.database.run("DELETE FROM limits")
            let before = try ProcessorTime(of: service, postmaster: postmaster)
            let (rate, count) = try rate(of: service, for: extent.run)
            costs.append((try ProcessorTime(of: service, postmaster: postmaster) - before) / count)
            figures.append((rate, hashes))
        }
        report.add(
            Goal(
                "whole sign-ups a second ÷ raw hashes of as many threads",
                atLeast: 0.85,
                figures.map { $0.signups / $0.hashes }
            )
        )
        var table = Table("threads", "sign-ups a second", "raw hashes a second", "ratio")
        table.append(
            "\(workers)",
            String(format: "%.1f", figures.map(\.signups).median),
            String(format: "%.1f", figures.map(\.hashes).median),
            String(format: "%.2f", figures.map { $0.signups / $0.hashes }.median)
        )
        report.add(table, under: "Whole sign-ups, \(clients) people at a time, eight requests and a mailed code each")
        var times = Table("part", "ms")
        for (part, time) in [
            ("hashing threads", \ProcessorTime.hashing), ("rest of the server", \.server), ("PostgreSQL", \.database),
            ("clients", \.load),
        ] {
            times.append(part, String(format: "%.1f", costs.map { $0[keyPath: time] / .milliseconds(1) }.median))
        }
        report.add(times, under: "Processor time of a sign-up")
    }

    /// The default number of hashing threads of the server.
    private static var workers: Int { max(1, ProcessInfo.processInfo.activeProcessorCount - 1) }

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

    private static func signUp(_ number: Int, with client: Client, at service: Service) throws {
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
        _ = try request("POST", "/signup/commit", nil, expecting: 201)
    }
}
