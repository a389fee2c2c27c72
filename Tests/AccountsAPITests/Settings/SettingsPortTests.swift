import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The check of the ports", .timeLimit(.minutes(30)))
struct SettingsPortTests {
    @Test func `a client cannot connect to a port while the server checks it`() async throws {
        // The operating system gives clients no port of this range. A client with the port could connect to itself.
        let port = Int.random(in: 20_000..<30_000)
        let settings = try Settings(
            SettingSource(environment: [
                "DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys, "LISTEN": "127.0.0.1:\(port)",
                "METRICS_LISTEN": "off",
            ])
        )
        async let connections = onThread { (0..<3000).count { _ in (try? RawClient(port: port)) != nil } }
        for _ in 0..<500 { try settings.checkPorts() }
        #expect(try await connections == 0)
    }

    private static func settings(listen: String, metricsListen: String = "off") throws -> Settings {
        try Settings(
            SettingSource(environment: [
                "DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys, "LISTEN": listen,
                "METRICS_LISTEN": metricsListen,
            ])
        )
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("127.0.0.1", "0.0.0.0"), ("[::1]", "::1"),
        ("[::]", "[::1]"), ("[::]", "127.0.0.1"), ("0.0.0.0", "[::]"),
    ])
    func `the service and its metrics at the same address and port are a mistake`(host: String, metrics: String) {
        let error = #expect(throws: SettingMistakes.self) {
            try Self.settings(listen: "\(host):8080", metricsListen: "\(metrics):8080")
        }
        #expect(
            error?.all == [
                "LISTEN and METRICS_LISTEN name the same port of one address; use another port for METRICS_LISTEN"
            ]
        )
        #expect(error?.areTemporary == false)
    }

    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.2:8080"), ("0.0.0.0:8080", "[::1]:8080"), ("0.0.0.0:8080", "127.0.0.1:8081"),
        ("127.0.0.1:0", "127.0.0.1:0"),
    ])
    func `other addresses or ports, and ports that the system chooses, are no mistake`(
        listen: String,
        metricsListen: String
    ) throws {
        let settings = try Self.settings(listen: listen, metricsListen: metricsListen)
        #expect(settings.metricsListen != nil)
    }

    @Test func `a server waits for a port that its predecessor is about to close`() async throws {
        let holder = try HeldPort()
        let settings = try Self.settings(listen: "127.0.0.1:\(holder.port)")
        var pauses = 0
        try await settings.awaitPorts {
            pauses += 1
            if pauses == 3 { holder.release() }
        }
        #expect(pauses == 3)
    }

    @Test func `a port that stays taken is a temporary mistake`() async throws {
        let holder = try HeldPort()
        let taken = try Self.settings(listen: "127.0.0.1:\(holder.port)")
        var pauses = 0
        let error = await #expect(throws: SettingMistakes.self) {
            try await taken.awaitPorts(attempts: 4) { pauses += 1 }
        }
        #expect(pauses == 3 && error?.areTemporary == true)
        #expect(error?.all == ["LISTEN 127.0.0.1:\(holder.port): another program has the port"])
    }
}

/// A listening socket on a port of 127.0.0.1 that the system chooses.
private final class HeldPort {
    let port: Int
    private var descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) | listen(descriptor, 1) | getsockname(descriptor, $0, &length)
            }
        }
        guard status == 0 else { throw POSIXError(.EADDRINUSE) }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    func release() {
        close(descriptor)
        descriptor = -1
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
