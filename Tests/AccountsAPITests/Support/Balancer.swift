import Foundation
import Synchronization
import TestSupport

/// HAProxy in front of servers on this host. It checks each server twice a second, sends requests only to servers that
/// answer and do not say that they are stopping, and retries nothing.
///
/// A server on a busy machine may also say that its database does not answer in time. It gets requests nevertheless,
/// because the other server is no faster.
final class Balancer: Sendable {
    let port: Int
    private let statistics: Int
    private let process: Mutex<Process>
    private let folder: URL

    init(over servers: [Int]) throws {
        (port, statistics) = (try Self.freePort(), try Self.freePort())
        folder = FileManager.default.temporaryDirectory.appending(path: "balancer-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let configuration = """
            defaults
                mode http
                timeout connect 300s
                timeout check 300s
                timeout client 300s
                timeout server 300s
                retries 0
            frontend service
                bind 127.0.0.1:\(port)
                default_backend servers
            frontend statistics
                bind 127.0.0.1:\(statistics)
                stats enable
                stats uri /
            backend servers
                http-reuse always
                option httpchk GET /health/ready
                http-check expect ! string "The server is stopping."
                default-server check inter 500ms downinter 100ms fall 1 rise 1

            """
        let lines = servers.enumerated().map { "    server s\($0) 127.0.0.1:\($1)\n" }.joined()
        let file = folder.appending(path: "haproxy.cfg")
        try Data((configuration + lines).utf8).write(to: file)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/sbin/haproxy")
        process.arguments = ["-db", "-f", file.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = Mutex(process)
    }

    deinit {
        process.withLock { process in
            process.terminate()
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Waits until this number of servers gets requests.
    func waitForServers(_ count: Int) async throws {
        while true {
            try Task.checkCancellation()
            let text = try? await onThread { [statistics] in
                try RawClient(port: statistics).exchange("GET /;csv HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            }
            let ready = (text ?? "").split(separator: "\n").filter { $0.hasPrefix("servers,s") && $0.contains(",UP,") }
            if ready.count == count { return }
            await Task.yield()
        }
    }

    /// A port that no program listens on at the moment.
    static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 ? getsockname(descriptor, pointer, &size) : -1
            }
        }
        guard status == 0 else { throw ServerProcess.Failure(description: "no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
