internal import Foundation
internal import Synchronization

/// A mail server in this process that takes the same time for each mail, and stores when it accepted the mail.
final class MailSink: Sendable {
    private let port: LoopbackPort
    private let delay: Duration
    private let arrivals = Mutex<[String: ContinuousClock.Instant]>([:])

    /// - Parameter delay: the time between the end of a mail and its acceptance.
    init(delay: Duration) throws {
        self.delay = delay
        port = try LoopbackPort()
        port.serve { [self] in serve($0, $1) }
    }

    var url: String { "smtp://127.0.0.1:\(port.number)" }

    /// Waits until a mail to this address is accepted, and returns the time of that. Throws after 60 seconds.
    func arrival(of address: String) throws -> ContinuousClock.Instant {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if let arrival = arrivals.withLock({ $0[address] }) { return arrival }
            Thread.sleep(forTimeInterval: 0.0005)
        }
        throw Service.Failure(description: "no mail arrived for \(address)")
    }

    /// Speaks SMTP until the client sends QUIT or disconnects.
    private func serve(_ connection: Int32, _ input: UnsafeMutablePointer<FILE>) {
        func reply(_ text: String) { send(connection, text + "\r\n", text.utf8.count + 2, Int32(MSG_NOSIGNAL)) }
        reply("220 sink")
        var recipient = ""
        while let line = input.line() {
            switch line.prefix(4).uppercased() {
            case "RCPT":
                recipient = String(line.drop { $0 != "<" }.dropFirst().prefix { $0 != ">" })
                reply("250 recipient")
            case "DATA":
                reply("354 go on")
                while let text = input.line(), text != "." {}
                Thread.sleep(forTimeInterval: delay / .seconds(1))
                let arrival = ContinuousClock.now
                arrivals.withLock { $0[recipient] = arrival }
                reply("250 taken")
            case "QUIT":
                return reply("221 bye")
            default: reply("250 fine")
            }
        }
    }
}
