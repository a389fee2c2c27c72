internal import Foundation
internal import Synchronization

/// The webhook endpoint of an application, which runs in this process.
final class WebhookSink: Sendable {
    enum Behavior {
        /// Answers each request with 200, and keeps the connections alive.
        case answers
        case refusesConnections
        /// Accepts connections and requests, and never answers.
        case isSilent
    }

    private struct Arrivals {
        var count = 0
        var first = ContinuousClock.now
        var last = ContinuousClock.now
    }

    private let port: LoopbackPort
    private let arrivals = Mutex(Arrivals())

    init(_ behavior: Behavior) throws {
        port = try LoopbackPort()
        switch behavior {
        case .answers: port.serve { [self] in answer($0, $1) }
        case .refusesConnections: break
        case .isSilent: port.serve { while getc_unlocked($1) != EOF {} }
        }
    }

    var url: String { "http://127.0.0.1:\(port.number)/" }

    /// Waits until this number of requests has arrived, and returns how many a minute arrived between the first and the
    /// last. Throws after ten minutes.
    func rate(of count: Int) throws -> Double {
        let end = ContinuousClock.now + .seconds(600)
        while ContinuousClock.now < end {
            let arrivals = arrivals.withLock { $0 }
            if arrivals.count >= count {
                return Double(arrivals.count - 1) / ((arrivals.last - arrivals.first) / .seconds(60))
            }
            Thread.sleep(forTimeInterval: 0.05)
        }
        throw Service.Failure(description: "\(arrivals.withLock { $0.count }) of \(count) events have arrived")
    }

    private func answer(_ connection: Int32, _ input: UnsafeMutablePointer<FILE>) {
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        var length = 0
        while let line = input.line() {
            if let match = line.wholeMatch(of: /(?i)content-length: ([0-9]+)/) { length = Int(match.1) ?? 0 }
            guard line.isEmpty else { continue }
            for _ in 0..<length { _ = getc_unlocked(input) }
            arrivals.withLock { arrivals in
                arrivals.last = .now
                if arrivals.count == 0 { arrivals.first = arrivals.last }
                arrivals.count += 1
            }
            send(connection, response, response.utf8.count, Int32(MSG_NOSIGNAL))
        }
    }
}
