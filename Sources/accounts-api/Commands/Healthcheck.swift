import Accounts
import ArgumentParser
import Foundation

struct Healthcheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks that the server on this host is ready, or only live; for containers without a shell.",
        discussion: """
            EXAMPLES
              accounts-api healthcheck --listen 127.0.0.1:8080
              accounts-api healthcheck --live --metrics-listen 127.0.0.1:9090
            """
    )

    @Option(\.listen) var listen: String?
    @Option(\.metricsListen) var metricsListen: String?
    @Flag(help: "Succeeds if the process answers, even without the database; asks at METRICS_LISTEN.")
    var live = false
    @Flag(help: "Prints JSON.") var json = false

    private struct Unhealthy: Error, CustomStringConvertible {
        let description: String
    }

    func run() async throws {
        let source = SettingSource([\.listen: listen, \.metricsListen: metricsListen])
        let found: Address? = live ? try source.read(\.metricsListen) : try source.read(\.listen)
        guard let address = found else { throw ValidationError("METRICS_LISTEN is off, but --live needs it") }
        // A server on all addresses of IPv6 usually also takes IPv4, and a container may have no address of IPv6.
        let hosts = ["0.0.0.0": ["127.0.0.1"], "::": ["::1", "127.0.0.1"]][address.host] ?? [address.host]
        let shown = hosts.map { "\($0.contains(":") ? "[\($0)]" : $0):\(address.port)" }.joined(separator: " or ")
        let check = live ? "live" : "ready"
        let answers = hosts.lazy.compactMap { Self.sendRequest(check, $0, port: "\(address.port)") }
        guard let answer = answers.first else {
            let setting = live ? "METRICS_LISTEN" : "LISTEN"
            throw Unhealthy(
                description: "no answer from \(shown): check that the server runs and has the same \(setting)"
            )
        }
        guard answer.hasPrefix("HTTP/1.1 200 ") else {
            throw Unhealthy(description: "the server at \(shown) is not \(check): see its log")
        }
        if json { print(JSON.object([.init("state", .string(check)), .init("address", .string(shown))]).text) }
    }

    /// Returns the start of the server's response; nil if there is none. Connecting, sending and receiving time out
    /// after five seconds each.
    private static func sendRequest(_ check: String, _ host: String, port: String) -> String? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, port, &hints, &found) == 0, let address = found?.pointee else { return nil }
        defer { freeaddrinfo(found) }
        let connection = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
        guard connection >= 0 else { return nil }
        defer { close(connection) }
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        // The server accepts any name as `Host`. Unlike an IPv6 address, `localhost` needs no brackets.
        let request = "GET /health/\(check) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        var answer = [UInt8](repeating: 0, count: 64)
        guard connect(connection, address.ai_addr, address.ai_addrlen) == 0,
            send(connection, request, request.utf8.count, Int32(MSG_NOSIGNAL)) == request.utf8.count
        else { return nil }
        let count = recv(connection, &answer, answer.count, 0)
        return count > 0 ? String(decoding: answer[..<count], as: UTF8.self) : nil
    }
}
