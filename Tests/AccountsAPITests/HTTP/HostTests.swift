import NIOHTTP1
import Testing

@testable import accounts_api

@Suite("The Host of a request")
struct HostTests {
    private func isValid(_ hosts: [String], version: HTTPVersion = .http1_1) -> Bool {
        let headers = HTTPHeaders(hosts.map { ("host", $0) })
        return HTTPRequestHead(version: version, method: .GET, uri: "/signup", headers: headers).hasValidHost
    }

    @Test(arguments: [
        "x", "signup.example", "signup.example:8080", "signup.example:", "xn--bcher-kva.example", "my_host",
        "b%C3%BC.example",
        "192.0.2.1", "192.0.2.1:443", "[2001:db8::1]", "[2001:db8::1]:8080", "[::ffff:192.0.2.1]", " x\t", "",
    ])
    func `a name or address with an optional port is valid`(host: String) {
        #expect(isValid([host]))
    }

    @Test(arguments: [
        "a b", "a, b", "a/b", "a@b", "user:word@a", "a?b", "a#b", "a\\b", "a\"b", "<a>", "bücher.example", "a\u{0}",
        "a%", "a%2",
        "a%zz", ":", ":80", "a:b", "a:80:80", "a:-1", "a:+1", "a:65536", "2001:db8::1", "[", "[]", "[::1", "[::1]80",
        "[::1]:x",
        "[::g]", "[fe80::1%25eth0]", "[192.0.2.1]", "a[::1]", "http://a",
    ])
    func `any other Host is invalid`(host: String) {
        #expect(!isValid([host]))
        #expect(!isValid([host], version: .http1_0))
    }

    @Test func `a request needs exactly one Host; with HTTP/1.0 it may have none`() {
        #expect(!isValid([]))
        #expect(isValid([], version: .http1_0))
        for version in [HTTPVersion.http1_0, .http1_1] {
            #expect(!isValid(["x", "x"], version: version))
            #expect(!isValid(["x", ""], version: version))
        }
    }
}
