import Testing

@testable import Accounts

@Suite("An e-mail field")
struct EmailFieldTests {
    let email: AskedField

    init() throws {
        email = try AskedField(["name: email, kind: email"])
    }

    private static func local(_ length: Int) -> String { String(repeating: "a", count: length) }

    /// A domain with this many octets, in labels of at most 50 octets.
    private static func domain(_ length: Int) -> String {
        var labels: [String] = []
        var left = length - ".example".utf8.count
        while left > 0 {
            let label = min(left, 50)
            labels.append(String(repeating: "d", count: label))
            left -= label + 1
        }
        return labels.joined(separator: ".") + ".example"
    }

    @Test(arguments: [
        ("a@b.example", "a@b.example"),
        ("Ann.Lee+news@Mail.Example", "ann.lee+news@mail.example"),
        ("ANN@EXAMPLE.COM", "ann@example.com"),
        ("!#$%&'*+-/=?^_`{|}~@b.example", "!#$%&'*+-/=?^_`{|}~@b.example"),
        ("0@0.a0", "0@0.a0"),
        ("a@a-b.c--d.example", "a@a-b.c--d.example"),
        ("a@\(String(repeating: "b", count: 63)).example", "a@\(String(repeating: "b", count: 63)).example"),
        ("a@XN--BCHER-KVA.example", "a@xn--bcher-kva.example"),
        ("a@bücher.example", "a@xn--bcher-kva.example"),
        ("a@BÜCHER.Example", "a@xn--bcher-kva.example"),
        ("a@bu\u{308}cher.example", "a@xn--bcher-kva.example"),
        ("a@faß.example", "a@xn--fa-hia.example"),
        ("a@한국.한국", "a@xn--3e0b707e.xn--3e0b707e"),
        ("a@日本語。example", "a@xn--wgv71a119e.example"),
        ("a@ｅｘａｍｐｌｅ.com", "a@example.com"),
    ])
    func `an address is stored in its canonical form`(typed: String, form: String) throws {
        #expect(try email.canonical(.string(typed)) == .string(form))
        #expect(try email.isSettled(on: .string(form)))
    }

    @Test(arguments: [
        ("kim@example.com", "kim@example.com"), ("kim+news@example.com", "kim@example.com"),
        ("kim+a+b@example.com", "kim@example.com"), ("k.i.m@example.com", "k.i.m@example.com"),
        ("k.i.m+news@gmail.com", "kim@gmail.com"), ("Kim@GoogleMail.com", "kim@gmail.com"),
        ("k.im@mail.gmail.com", "k.im@mail.gmail.com"), ("+kim@example.com", "+kim@example.com"),
        ("+k.i.m@gmail.com", "+kim@gmail.com"),
    ])
    func `addresses that differ only in a tag, or in dots at Gmail, have the same mailbox for rate limits`(
        address: String,
        mailbox: String
    ) throws {
        #expect(try #require(EmailAddress(address)).mailbox == mailbox)
    }

    @Test func `an address may have the maximum length of RFC 5321`() throws {
        #expect(email.refusals(.string("\(Self.local(64))@b.example")).isEmpty)
        #expect(email.refusals(.string("\(Self.local(65))@b.example")) == [Refusal("email", .badFormat)])
        let longest = "\(Self.local(64))@\(Self.domain(189))"
        #expect(longest.utf8.count == 254)
        #expect(try email.isSettled(on: .string(longest)))
        let params: [String: JSON] = ["max": 254, "actual": 255]
        #expect(
            email.refusals(.string("\(Self.local(64))@\(Self.domain(190))")) == [Refusal("email", .tooLong, params)]
        )
    }

    @Test func `an address whose A-labels are too long is refused`() throws {
        let labels = Array(repeating: "ü" + String(repeating: "b", count: 30), count: 6).joined(separator: ".")
        #expect("a@\(labels).example".utf8.count < 254)
        #expect(email.refusals(.string("a@\(labels).example")).isEmpty)
        let typed = "\(Self.local(24))@\(labels).example"
        #expect(typed.utf8.count <= 254)
        #expect(email.refusals(.string(typed)) == [Refusal("email", .badFormat)])
    }

    @Test(arguments: [
        "a", "@", "a@", "@b.example", "a@b", "a@localhost", "a@b.", "a@.b", "a@b..example", "a@b.example.",
        "a@@b.example",
        "a@b@c.example", ".a@b.example", "a.@b.example", "a..b@b.example", "a b@b.example", " a@b.example",
        "a@b.example ",
        "\"a\"@b.example", "a(c)@b.example", "<a@b.example>", "a@b.example,c@b.example", "a@[127.0.0.1]", "a@127.0.0.1",
        "a@b.1", "a@[IPv6:::1]", "a@-b.example", "a@b-.example", "a@b_c.example", "a@b.ex ample", "a@b!.example",
        "a@\(String(repeating: "b", count: 64)).example", "é@b.example", "\u{212A}@b.example", "a\u{301}@b.example",
        "a@\u{301}b.example", "a＠b.example", "a@b＠c.example", "a@b\u{2044}c.example", "a@\u{AD}.example",
        "a@-ü.example",
        "mailto:a@b.example", "a@b:25.example", "a\\@b.example", "a@b.example/x",
    ])
    func `a malformed address is refused`(typed: String) {
        #expect(email.refusals(.string(typed)) == [Refusal("email", .badFormat)])
    }

    @Test(arguments: [0x00, 0x09, 0x0A, 0x0D, 0x7F, 0x85, 0x2028, 0x202E, 0x2066, 0xFDD0, 0xFFFE])
    func `control characters, bidirectional overrides and noncharacters are refused at any position`(value: UInt32)
        throws
    {
        let character = try #require(Unicode.Scalar(value))
        for typed in ["\(character)a@b.example", "a@b\(character).example", "a@b.example\(character)x"] {
            #expect(email.refusals(.string(typed)) == [Refusal("email", .badCharacters)])
        }
    }

    @Test func `a missing answer is refused as required`() {
        #expect(email.refusals("") == [Refusal("email", .required)])
    }

    @Test(arguments: [true, 1, .number(0.5), ["a@b.example"], ["email": "a@b.example"]] as [JSON])
    func `an answer that is not a string is refused`(answer: JSON) {
        #expect(email.refusals(answer) == [Refusal("email", .wrongType, ["expected": "string"])])
        #expect(!email.holds(answer))
    }

    @Test(arguments: HostileText.all)
    func `a 64 KiB text is refused`(hostile: HostileText) {
        for text in [hostile.text, "a@" + hostile.text, hostile.text + "@b.example"] {
            #expect(!email.refusals(.string(text)).isEmpty)
            #expect(!email.holds(.string(text)))
        }
    }

    @Test(arguments: [nil, "", "A@b.example", "a@bücher.example", "no address"] as [JSON?])
    func `a stored address that is not canonical is invalid`(stored: JSON?) {
        #expect(!email.holds(stored))
    }

    @Test func `a password must equal neither the address nor its local part`() {
        #expect(email.field.kind.contextWords(ofJSON: "ann.lee@b.example") == ["ann.lee@b.example", "ann.lee"])
        #expect(email.field.kind.contextWords(ofJSON: "no address").isEmpty)
    }

    @Test func `the rules tell clients the maximum length`() {
        #expect(email.field.kind.rules(in: .english) == [.init("max", 254)])
        #expect(email.shown("a@b.example", at: .draft) == "a@b.example")
    }
}
