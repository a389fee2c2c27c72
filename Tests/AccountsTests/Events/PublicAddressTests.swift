import Testing

@testable import Accounts

@Suite("Public addresses")
struct PublicAddressTests {
    @Test(arguments: [
        "1.1.1.1", "93.184.216.34", "172.15.0.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00::1",
    ])
    func `an address of the public internet is allowed`(text: String) throws {
        #expect(try #require(IPAddress(text)).isPublic)
    }

    @Test(arguments: [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1",
        "203.0.113.1", "224.0.0.1", "239.255.255.255", "255.255.255.255", "168.63.129.16",
        "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "3fff::1",
        // IPv6 addresses that contain an IPv4 address: mapped, compatible, NAT64, 6to4 and Teredo. The last one is
        // site-local.
        "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "fec0::1",
    ])
    func `an address that is not public, or that contains an IPv4 address, is refused`(text: String) throws {
        #expect(try !#require(IPAddress(text)).isPublic)
    }

    private let addresses = ReceiverAddresses(
        allowsLoopback: false,
        networks: ["10.20.0.0/16", "100.64.0.0/10", "fd00::/8"].map { IPBlock($0)! }
    )

    @Test(arguments: ["1.1.1.1", "10.20.0.1", "10.20.255.255", "100.64.0.1", "fd12::1", "2606:4700::1111"])
    func `requests go to public addresses and to the operator's networks, and only with TLS`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(addresses.contains(address, isEncrypted: true))
        #expect(!addresses.contains(address, isEncrypted: false))
    }

    @Test(arguments: [
        "10.19.255.255", "10.21.0.0", "192.168.1.1", "127.0.0.1", "::1", "0.0.0.0", "169.254.169.254", "fe80::1",
        "168.63.129.16", "192.0.0.192", "100.100.100.200", "fd00:100::100:200", "fd00:a9fe:a9fe::1", "fd00:ec2::254",
        "fd00:ec2::23", "fd20:ce::254",
        "fd00:c1::a9fe:a9fe", "fd00:42::42", "fc00::1", "64:ff9b::a14:1",
    ])
    func `requests go to no other private, loopback or metadata address`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(!addresses.contains(address, isEncrypted: true))
    }

    @Test func `an IPv4-mapped address in a network of the operator is refused`() {
        let mapped = IPAddress(bytes: Array(repeating: 0, count: 10) + [0xFF, 0xFF, 10, 20, 0, 1])
        #expect(!addresses.contains(mapped, isEncrypted: true))
    }

    @Test(arguments: [
        ("10.0.0.0/8", true), ("10.1.2.3", true), ("172.16.0.0/12", true), ("192.168.7.0/24", true),
        ("100.64.0.0/10", true), ("fc00::/7", true), ("fd00:1::/32", true),
        ("10.0.0.0/7", false), ("172.16.0.0/11", false), ("0.0.0.0/0", false), ("::/0", false), ("1.1.1.1", false),
        ("127.0.0.0/8", false), ("169.254.0.0/16", false), ("fe80::/10", false), ("2000::/3", false),
        ("::ffff:10.0.0.1", true),
    ])
    func `a network is private if all of its addresses are`(text: String, isPrivate: Bool) throws {
        #expect(try #require(IPBlock(text)).isPrivate == isPrivate)
    }

    @Test func `an IPv4-mapped address in the bytes of a socket is refused`() {
        let public4: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF, 1, 1, 1, 1]
        #expect(!IPAddress(bytes: public4).isPublic)
        let loopback: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1]
        #expect(!IPAddress(bytes: loopback).isPublic && !IPAddress(bytes: loopback).isLoopback)
    }
}
