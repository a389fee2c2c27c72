internal import Foundation

/// The result of a load generator.
struct Load {
    /// The number of responses.
    let count: Double
    /// Responses a second.
    let rate: Double
    let p50, p99: Duration
}

/// wrk, a load generator, with requests of one kind. Each connection sends the next request as soon as it has the
/// response.
struct Wrk {
    /// The kinds of requests in `requests.lua`.
    enum Kind: String, CaseIterable {
        case step, session, check, refresh
    }

    let port: Int
    /// A file with a token on each line: of a draft, of a session, or the first refresh token of an authorization.
    let tokens: URL
    var kind = Kind.step

    func run(connections: Int, for time: Duration) throws -> Load {
        let text = try output(
            of: "wrk",
            [
                "--threads=1", "--connections=\(connections)", "--duration=\(time.components.seconds)s",
                "--timeout=30s", "--script=Tests/Benchmarks/Yardsticks/requests.lua", "http://127.0.0.1:\(port)", "--",
                kind.rawValue, tokens.path,
            ]
        )
        guard
            let line = text.firstMatch(
                of: /requests: ([0-9]+) in ([0-9]+) us, ([0-9]+) failed, p50 ([0-9.]+), p99 ([0-9.]+)/
            ),
            let count = Double(line.1), let took = Double(line.2), let p50 = Double(line.4), let p99 = Double(line.5)
        else { throw Service.Failure(description: "wrk: \(text)") }
        guard line.3 == "0", count > 0 else { throw Service.Failure(description: "requests were refused: \(text)") }
        return Load(
            count: count,
            rate: count / took * 1_000_000,
            p50: .nanoseconds(Int(p50 * 1000)),
            p99: .nanoseconds(Int(p99 * 1000))
        )
    }
}
