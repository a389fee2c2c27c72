import Foundation
import TestSupport
import Testing

/// A TCP connection that sends a text exactly as it is.
final class RawClient: Sendable {
    private let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // One retry, so that a connection that the system does not accept fails after three seconds, not two minutes.
        var retries: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_SYNCNT, &retries, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw ServerProcess.Failure(description: "no connection") }
    }

    deinit {
        close(descriptor)
    }

    func send(_ text: String) throws {
        guard Foundation.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count else {
            throw ServerProcess.Failure(description: "not sent")
        }
    }

    /// Closes the connection for sending.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads a response up to the first closing brace, which ends the JSON of short responses.
    func readResponse() -> String {
        var response: [UInt8] = []
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) == 1 {
            response.append(byte)
            if byte == UInt8(ascii: "}") { break }
        }
        return String(decoding: response, as: UTF8.self)
    }

    /// True if the server has closed the connection in both directions, and not only its sending side. Sends a byte,
    /// which the operating system of a server that has closed rejects; false after 300 seconds without a rejection.
    func isClosedByServer() -> Bool {
        // The send fails if the rejection of earlier bytes has already arrived.
        try? send("x")
        var event = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&event, 1, 300_000) == 1
    }

    func readAll() -> String {
        var response: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { return String(decoding: response, as: UTF8.self) }
            response += buffer[..<count]
        }
    }

    /// Sends a request on a connection of its own, and reads everything until the server closes the connection. Repeats
    /// that while the service refuses the request for now.
    static func exchange(_ request: String, at port: Int) async throws -> String {
        try await untilServed({ (response: String) in isRefusedForNow(response) }) {
            try await onThread { try RawClient(port: port).exchange(request) }
        }
    }

    /// Whether the service asks the client with this response to send the request again later.
    static func isRefusedForNow(_ response: String) -> Bool {
        response.hasPrefix("HTTP/1.1 503 ") && response.lowercased().contains("\r\nretry-after: ")
    }

    /// Sends a text, and reads everything until the server closes the connection.
    func exchange(_ text: String) throws -> String {
        try send(text)
        return readAll()
    }
}
