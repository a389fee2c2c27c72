import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The check of the ports", .timeLimit(.minutes(3)))
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
}
