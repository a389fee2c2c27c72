import Foundation
import TestSupport
import Testing

@Suite("The networks of connections", .freshDatabase, .timeLimit(.minutes(30)))
struct ConnectionNetworksTests {
    /// The address of a /64 of 2001:db8:7::/48. The first eight of its sixteen bits name the /56.
    private static func address(_ subnet: Int) -> String { "2001:db8:7:\(String(subnet, radix: 16))::1" }

    /// The server has a loopback interface of its own, with the addresses of the clients.
    private static func server(with addresses: [String]) async throws -> ServerProcess {
        let setUp = """
            ip link set lo up
            for address in \(addresses.joined(separator: " ")); do ip -6 address add "$address/128" dev lo nodad; done
            exec "$@"
            """
        return try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["LISTEN": "[::1]:8080", "TRUSTED_PROXIES": "", "METRICS_LISTEN": "off"],
            by: ["/usr/bin/unshare"] + (isRoot ? ["--net"] : ["--map-root-user", "--net"])
                + ["/bin/sh", "-ec", setUp, "sh"]
        )
    }

    private static let isRoot = geteuid() == 0

    /// Opens that many connections from each address, and returns how many of them are served.
    private static func served(_ count: Int, from addresses: [String], by server: ServerProcess) async throws -> [Int] {
        let script = Repository.root.appending(path: "Tests/AccountsAPITests/HTTP/connections.py").path
        let python = ProcessInfo.processInfo.environment["PYTHON"] ?? "python3"
        let entrance = ["--target=\(server.pid)", "--net"] + (isRoot ? [] : ["--user", "--preserve-credentials"])
        return try await onThread {
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(filePath: "/usr/bin/nsenter")
            process.arguments = entrance + ["/usr/bin/env", python, script, "\(server.port)", "\(count)"] + addresses
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0)
            return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }
        }
    }

    @Test func `a /64 has fifty connections, a /56 two hundred, a /48 eight hundred, and another /48 its own`()
        async throws
    {
        let first = (0..<5).map(Self.address)
        let others = [0x100, 0x200, 0x300].flatMap { block in (0..<4).map { Self.address(block + $0) } }
        let last = [Self.address(0x400), "2001:db8:8::1"]
        let server = try await Self.server(with: first + others + last)
        let served = try await Self.served(51, from: first + others + last, by: server)
        #expect(served.prefix(5) == [50, 50, 50, 50, 0], "four /64 use up what their /56 has")
        #expect(served.dropFirst(5).prefix(12) == ArraySlice(repeating: 50, count: 12))
        #expect(served.suffix(2) == [0, 50], "four /56 use up what their /48 has")
        #expect(await server.end(by: SIGTERM) == 0)
    }
}
