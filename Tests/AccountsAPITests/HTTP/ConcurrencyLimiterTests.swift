import Accounts
import Testing

@testable import accounts_api

@Suite("Concurrent operations of a client")
struct ConcurrencyLimiterTests {
    private func network(_ address: String) throws -> Network { Network(try #require(IPAddress(address))) }

    /// The /64 with this number in one /48. The numbers from 0 to 255 are in one /56.
    private func subnet(_ number: Int) throws -> Network { try network("2001:db8:7:\(String(number, radix: 16))::1") }

    @Test func `a /56 of IPv6 has four times the operations of a /64, and a /48 sixteen times`() throws {
        let limiter = ConcurrencyLimiter(perClient: 2)
        let first = try subnet(0)
        #expect((0..<3).map { _ in limiter.acquire(for: first) } == [true, true, false])
        for number in 1...6 { #expect(limiter.acquire(for: try subnet(number))) }
        #expect(!limiter.acquire(for: try subnet(7)), "the /56 has eight already")
        for number in 1...24 { #expect(limiter.acquire(for: try subnet(256 + 32 * number))) }
        #expect(!limiter.acquire(for: try subnet(0xFFFF)), "the /48 has thirty-two already")
        #expect(limiter.acquire(for: try network("2001:db8:8::1")))
        #expect(limiter.acquire(for: try network("192.0.2.1")))
        limiter.release(of: first)
        #expect(limiter.acquire(for: try subnet(0xFFFF)))
    }

    @Test func `a /48 of IPv6 leaves slots to other networks`() throws {
        let limiter = ConcurrencyLimiter(8, perClient: 2, perBlock: 4)
        let acquired = try (0..<8).map { limiter.acquire(for: try subnet($0)) }
        #expect(acquired == Array(repeating: true, count: 4) + Array(repeating: false, count: 4))
        let others = try (1...5).map { limiter.acquire(for: try network("192.0.2.\($0)")) }
        #expect(others == [true, true, true, true, false])
        for number in 0..<4 { limiter.release(of: try subnet(number)) }
        #expect(limiter.acquire(for: try network("192.0.2.5")))
    }
}
