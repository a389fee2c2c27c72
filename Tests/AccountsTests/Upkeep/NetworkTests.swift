import Testing

@testable import Accounts

@Suite("IP addresses and networks")
struct NetworkTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("::ffff:192.0.2.1", "192.0.2.1", true),
        ("2001:db8::1", "2001:db8::2", true), ("2001:db8::1", "2001:db8:0:0:ffff::", true),
        ("2001:db8::1", "2001:db8:0:1::1", false), ("fe80::1%eth0", "fe80::2", true), ("::1", "127.0.0.1", false),
    ])
    func `addresses of the same network are equal as networks`(one: String, other: String, isSame: Bool) throws {
        #expect((Network(try #require(IPAddress(one))) == Network(try #require(IPAddress(other)))) == isSame)
    }

    @Test(arguments: ["", "192.0.2", "192.0.2.256", "192.0.2.1:80", "[::1]", "example.com", "1", ":::", "192.0.2.01x"])
    func `a malformed address is refused`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.7", "192.0.2.7", true),
        ("192.0.2.7", "192.0.2.8", false), ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false),
        ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
        ("10.0.0.0/8", "::ffff:10.1.2.3", true),
    ])
    func `a block contains its addresses`(block: String, address: String, isInside: Bool) throws {
        #expect(try #require(IPBlock(block)).contains(try #require(IPAddress(address))) == isInside)
    }

    @Test(arguments: ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8/8", "::/129", "all", "/8"])
    func `a malformed block is refused`(text: String) {
        #expect(IPBlock(text) == nil)
    }
}
