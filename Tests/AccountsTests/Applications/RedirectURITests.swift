import Testing

@testable import Accounts

@Suite("The redirect URIs of an application")
struct RedirectURITests {
    private static let confidential = Applications.file(
        redirectURIs: "['https://shop.example/callback', 'https://shop.example/K', 'http://127.0.0.1/callback']",
        "secret_file: /secrets/shop"
    )
    private static let native = Applications.file(
        redirectURIs: "['http://127.0.0.1/callback', 'http://[::1]:7000/callback?a=1', 'com.example.app:/callback']"
    )

    @Test(arguments: ["https://shop.example/callback", "https://shop.example/K", "http://127.0.0.1/callback"])
    func `a registered URI is allowed`(uri: String) throws {
        #expect(try Applications.test(Self.confidential).all[0].allows(redirectURI: uri))
    }

    @Test(arguments: [
        "", "/callback", "//shop.example/callback", "https:/shop.example/callback", "shop.example/callback",
        "https://shop.example", "https://shop.example/", "https://shop.example/callback/",
        "https://shop.example//callback",
        "https://shop.example/Callback", "https://SHOP.example/callback", "HTTPS://shop.example/callback",
        "http://shop.example/callback", "https://shop.example:443/callback", "https://shop.example:8443/callback",
        "https://shop.example./callback", "https://www.shop.example/callback",
        "https://shop.example.evil.example/callback",
        "https://evil-shop.example/callback", "https://shop.example@evil.example/callback",
        "https://kim@shop.example/callback", "https://kim:x@shop.example/callback",
        "https://evil.example/https://shop.example/callback", "https://evil.example?https://shop.example/callback",
        "https://evil.example#https://shop.example/callback", "https://shop.example/callback?",
        "https://shop.example/callback?next=https://evil.example", "https://shop.example/callback#",
        "https://shop.example/callback#x", "https://shop.example/callback;x", "https://shop.example/callback/..",
        "https://shop.example/callback/../callback", "https://shop.example/./callback",
        "https://shop.example/%63allback", "https://shop.example/callback%2f", "https://shop.example/callback%00",
        "https://shop.example/callback\u{0}", "https://shop.example\\callback", "https://shop.example/\\evil.example",
        " https://shop.example/callback", "https://shop.example/callback ", "https://shop.example/callback\n",
        "https://shop.example/call\tback", "https://\u{455}hop.example/callback",
        "https://xn--hop-kce.example/callback",
        "https://shop.example/\u{212A}", "https://shop\u{3002}example/callback",
        "javascript:https://shop.example/callback",
        "http://127.0.0.1:3000/callback", "http://localhost/callback",
    ])
    func `a URI that differs in any byte from the registered one is refused`(uri: String) throws {
        #expect(try !Applications.test(Self.confidential).all[0].allows(redirectURI: uri))
    }

    @Test(arguments: [
        "http://127.0.0.1/callback", "http://127.0.0.1:1/callback", "http://127.0.0.1:65535/callback",
        "http://[::1]/callback?a=1", "http://[::1]:7000/callback?a=1", "http://[::1]:49152/callback?a=1",
        "com.example.app:/callback",
    ])
    func `an app on this machine may use any port`(uri: String) throws {
        #expect(try Applications.test(Self.native).all[0].allows(redirectURI: uri))
    }

    @Test(arguments: [
        "http://127.0.0.1:/callback", "http://127.0.0.1:0/callback", "http://127.0.0.1:65536/callback",
        "http://127.0.0.1:080/callback", "http://127.0.0.1:+80/callback", "http://127.0.0.1:80a/callback",
        "http://127.0.0.1:80.evil.example/callback", "http://127.0.0.1:80@evil.example/callback",
        "http://127.0.0.1.evil.example/callback", "http://127.0.0.1@evil.example/callback",
        "http://127.0.0.2/callback", "http://127.1/callback", "http://2130706433/callback",
        "http://0x7f.0.0.1/callback", "http://localhost:3000/callback", "https://127.0.0.1:3000/callback",
        "http://127.0.0.1:3000/Callback", "http://127.0.0.1:3000/callback?a=1", "http://127.0.0.1:3000/callback#a",
        "http://127.0.0.1:3000", "http://127.0.0.1:\u{FF18}0/callback", "http://[::1]:3000/callback",
        "http://[0:0:0:0:0:0:0:1]:3000/callback?a=1", "http://[::1%25lo]/callback?a=1",
        "http://[::ffff:127.0.0.1]/callback", "http://[::1]evil.example/callback?a=1", "http://::1/callback?a=1",
        "com.example.app:3000/callback", "com.example.app://callback", "COM.example.app:/callback",
    ])
    func `only the port of a loopback address may differ from the registered URI`(uri: String) throws {
        #expect(try !Applications.test(Self.native).all[0].allows(redirectURI: uri))
    }

    @Test func `the URI after a sign-out must equal the registered one, including its port`() throws {
        let lines = "post_logout_redirect_uris: ['http://127.0.0.1:3000/bye']"
        let app = try Applications.test(Applications.file(lines)).all[0]
        #expect(app.allows(postLogoutRedirectURI: "http://127.0.0.1:3000/bye"))
        for uri in ["http://127.0.0.1:3001/bye", "https://shop.example/callback", ""] {
            #expect(!app.allows(postLogoutRedirectURI: uri))
        }
    }

    // MARK: Registration

    @Test(arguments: [
        "https://shop.example", "https://shop.example/", "https://shop.example:8443/a/b.c?d=e&f",
        "https://xn--9m1b.example/",
        "https://192.0.2.1/callback", "https://[2001:db8::1]:8443/callback", "http://127.0.0.1",
        "http://127.0.0.1:3000/a",
        "http://[::1]/a", "https://shop.example/%EC%83%81",
    ])
    func `an absolute URI with https, or with http on a loopback address, can be registered`(uri: String) {
        #expect(ApplicationURIRules(allowsLocalhost: false).mistake(in: uri) == nil)
    }

    @Test(arguments: [
        "callback", "/callback", "//shop.example/", "https:", "https:/shop.example", "https:shop.example", "https://",
        "https:///callback", "https://?a", "http://shop.example/", "http://localhost/", "http://127.0.0.2/",
        "http://127.0.0.1.evil.example/", "http://[::2]/", "http://[::1/", "https://shop.example:/",
        "https://shop.example:0/",
        "https://shop.example:99999/", "https://shop.example:a/", "https://shop.example/#", "https://shop.example/#a",
        "https://kim@shop.example/", "https://kim:hunter2@shop.example/", "https://*.shop.example/",
        "https://shop.example/*", "https://shop.example/a b", "https://shop.example/\\", "https://상점.example/",
        "https://shop.example/상점", "https://shop.example/%", "https://shop.example/%2", "https://shop.example/%zz",
        "https://shop%2eexample/", "https://shop.example/a/../b", "https://shop.example/..",
        "https://shop.example/%2e%2E/",
        "https://shop.example/./a", "https://shop_example/", "HTTPS://shop.example/", "ftp://shop.example/",
        "javascript:alert(1)", "data:text/html,x", "com.example.app:/callback", "https://[shop.example]/",
        "https://shop.example/a\r\nX: y", "https://shop.example/" + String(repeating: "a", count: 2000),
    ])
    func `any other URI cannot be registered`(uri: String) throws {
        let mistake = try #require(ApplicationURIRules(allowsLocalhost: false).mistake(in: uri))
        #expect(!mistake.contains("hunter2"))
    }

    @Test(arguments: [
        "app:/callback", "com.example.app:callback", "com.example.app://callback", "javascript:/a.b",
        "com.example.app:/a/../b", "com.example.app:/%2e/b", ".:/callback", "1.a:/callback", "com!a.b:/callback",
    ])
    func `a URI with the scheme of an app needs a full stop in the scheme, and one slash after it`(uri: String) {
        #expect(ApplicationURIRules(allowsLocalhost: false).mistake(in: uri, allowsAppScheme: true) != nil)
    }

    @Test(
        arguments: [
            ("https://shop.example/callback", "https://shop.example"),
            ("https://Shop.example:443/a?b=https://evil.example", "https://shop.example"),
            ("https://shop.example:8443", "https://shop.example:8443"), ("http://127.0.0.1:80/x", "http://127.0.0.1"),
            ("http://[::1]:7000/callback?a=1", "http://[::1]:7000"), ("com.example.app:/callback", nil),
        ] as [(String, String?)]
    )
    func `the origin of a URI is written as browsers write it`(uri: String, origin: String?) {
        #expect(ApplicationURIRules.origin(of: uri) == origin)
    }

    @Test func `only the origins of public applications are allowed`() throws {
        let native = try Applications.test(Self.native)
        #expect(native.allows(origin: "http://127.0.0.1") && native.allows(origin: "http://[::1]:7000"))
        for origin in ["", "null", "http://[::1]", "http://127.0.0.1:7000", "com.example.app:", "http://127.0.0.1/"] {
            #expect(!native.allows(origin: origin), "\(origin)")
        }
        #expect(try !Applications.test(Self.confidential).allows(origin: "https://shop.example"))
    }
}
