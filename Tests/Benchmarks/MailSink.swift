internal import Foundation
internal import Synchronization

/// A mail server in this process that takes the same time for each mail, and remembers when it had accepted it.
final class MailSink: Sendable {
    let port: Int
    private let delay: Duration
    private let arrivals = Mutex<[String: ContinuousClock.Instant]>([:])

    /// - Parameter delay: the time between the end of a mail and its acceptance.
    init(delay: Duration) throws {
        self.delay = delay
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) | listen(listener, 100) | getsockname(listener, $0, &size)
            }
        }
        guard status == 0 else { throw Service.Failure(description: "no port is free for the mail sink") }
        port = Int(in_port_t(bigEndian: address.sin_port))
        Thread { [self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                Thread { [self] in serve(connection) }.start()
            }
        }.start()
    }

    var url: String { "smtp://127.0.0.1:\(port)" }

    /// Waits until the mail to that address is accepted.
    func arrival(of address: String) throws -> ContinuousClock.Instant {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if let arrival = arrivals.withLock({ $0[address] }) { return arrival }
            Thread.sleep(forTimeInterval: 0.0005)
        }
        throw Service.Failure(description: "no mail arrived for \(address)")
    }

    /// Speaks SMTP until the client hangs up.
    private func serve(_ connection: Int32) {
        var yes: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard let input = fdopen(connection, "r") else { return }
        defer { fclose(input) }
        func reply(_ text: String) { send(connection, text + "\r\n", text.utf8.count + 2, Int32(MSG_NOSIGNAL)) }
        reply("220 sink")
        var recipient = ""
        while let line = Self.line(of: input) {
            switch line.prefix(4).uppercased() {
            case "RCPT":
                recipient = String(line.drop { $0 != "<" }.dropFirst().prefix { $0 != ">" })
                reply("250 recipient")
            case "DATA":
                reply("354 go on")
                while let text = Self.line(of: input), text != "." {}
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

    /// Reads without the lock of the stream, for which `fflush` of another thread would wait.
    private static func line(of input: UnsafeMutablePointer<FILE>) -> String? {
        var bytes: [UInt8] = []
        while case let byte = getc_unlocked(input), byte != Int32(UInt8(ascii: "\n")) {
            if byte == EOF { return nil }
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
