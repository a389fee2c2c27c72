import HTTPTypes
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("The client behind a proxy")
struct ProxiesTests {
    private let proxies = Proxies(trusted: ["10.0.0.0/8", "2001:db8:1::/48"].compactMap { IPBlock($0) })

    @Test(arguments: [
        ("192.0.2.1", nil, "192.0.2.1"), ("192.0.2.1", "198.51.100.7", "192.0.2.1"),
        ("10.0.0.1", "198.51.100.7", "198.51.100.7"), ("10.0.0.1", "1.2.3.4, 198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "198.51.100.7, 10.0.0.2", "198.51.100.7"), ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "198.51.100.7,nonsense", "10.0.0.1"), ("10.0.0.1", "", "10.0.0.1"), ("10.0.0.1", nil, "10.0.0.1"),
        ("10.0.0.1", "198.51.100.7:1234", "198.51.100.7"), ("10.0.0.1", "[2001:db8:2::7]:443", "2001:db8:2::7"),
        ("10.0.0.1", "[2001:db8:2::7]", "2001:db8:2::7"), ("10.0.0.1", "198.51.100.7:1, 10.0.0.2:80", "198.51.100.7"),
        ("10.0.0.1", "[2001:db8:2::7]:1,[2001:db8:1::6]:2", "2001:db8:2::7"),
        ("10.0.0.1", "198.51.100.7:", "10.0.0.1"), ("10.0.0.1", "198.51.100.7:http", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.7:65536", "10.0.0.1"), ("10.0.0.1", "198.51.100.7:+80", "10.0.0.1"),
        ("10.0.0.1", "[2001:db8:2::7", "10.0.0.1"), ("10.0.0.1", "[2001:db8:2::7]443", "10.0.0.1"),
        ("10.0.0.1", "[2001:db8:2::7]:", "10.0.0.1"), ("10.0.0.1", "[", "10.0.0.1"), ("10.0.0.1", ":", "10.0.0.1"),
        ("10.0.0.1", "2001:db8:2::7", "2001:db8:2::7"),
        // U+0600 and the comma after it are one Character.
        ("10.0.0.1", "x\u{600}, 198.51.100.7", "198.51.100.7"),
        ("2001:db8:1::5", "2001:db8:2::7", "2001:db8:2::7"), ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
    ])
    func `the client is the last address that is not a trusted proxy`(peer: String, forwarded: String?, client: String)
        throws
    {
        let headers: HTTPFields = forwarded.map { [.forwardedFor: $0] } ?? [:]
        #expect(proxies.clientNetwork(IPAddress(peer), headers) == Network(try #require(IPAddress(client))))
    }

    @Test func `several X-Forwarded-For fields form one list`() throws {
        var headers: HTTPFields = [:]
        headers[values: .forwardedFor] = ["198.51.100.7", "10.0.0.2"]
        #expect(
            proxies.clientNetwork(IPAddress("10.0.0.1"), headers) == Network(try #require(IPAddress("198.51.100.7")))
        )
    }

    @Test func `without a peer address the client is unknown, whatever the header says`() {
        #expect(proxies.clientNetwork(nil, [.forwardedFor: "198.51.100.7"]) == .unknown)
    }
}
