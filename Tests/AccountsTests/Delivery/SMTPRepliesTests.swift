import Testing

@testable import Accounts

@Suite("The replies of a mail server")
struct SMTPRepliesTests {
    /// The text of a reply with the code 550 that has these lines.
    private func text(_ lines: String..., to recipient: String? = "kim.lee+news@example.com") -> String? {
        text(lines, to: recipient)
    }

    private func text(_ lines: [String], to recipient: String? = "kim.lee+news@example.com") -> String? {
        var replies = SMTPReplies()
        for line in lines { replies.add(Array("\(line)\r\n".utf8)) }
        return replies.text(of: 550, to: recipient)
    }

    @Test(arguments: [
        ("550 5.1.1 <kim.lee+news@example.com>: unknown", "5.1.1 <address>: unknown"),
        ("550 5.1.1 Kim.Lee@EXAMPLE.com unknown", "5.1.1 <address> unknown"),
        ("550 5.1.1 User kim.lee unknown at example.com.", "5.1.1 User <address> unknown at <address>."),
        ("550 see https://mx.example.com/?to=kim.lee%2Bnews", "see https://mx.<address>/?to=<address>%2Bnews"),
        ("550 5.7.1 <no-reply@acme.example>: Sender rejected", "5.7.1 <address>: Sender rejected"),
        ("550 5.2.2 kim.leeds is another, and so is example.community", nil),
        ("550 5.7.1 [192.0.2.7] is listed, see https://lists.example.org/?ip=192.0.2.7", nil),
        ("550 Mailbox unavailable", nil),
    ])
    func `a reply keeps its text and loses every address`(line: String, text expected: String?) {
        #expect(text(line) == expected ?? String(line.dropFirst(4)))
    }

    @Test func `a local part that looks like a part of the reply leaves its status and the mark as they are`() {
        #expect(text("550 5.1.1 1 of 1", to: "1@example.com") == "5.1.1 <address> of <address>")
        #expect(text("550 no address kim@example.org", to: "address@example.com") == "no <address> <address>")
    }

    @Test func `the lines of a reply become one, and the last reply with a code counts`() {
        let last = ["550-5.1.1 no", "550-5.1.1 such", "550 5.1.1 user"]
        #expect(text(["550 first", "250-one", "250 two"] + last) == "5.1.1 no such user")
        #expect(text("550-5.1.1 one", "550 5.1.10 two") == "5.1.1 one 5.1.10 two")
        #expect(text("250 fine") == nil)
        #expect(text("550") == nil)
        #expect(text("550 ") == nil)
        #expect(text("nonsense", "999 more of it", "") == nil)
    }

    @Test func `a reply has at most 200 printable characters`() {
        #expect(text("550 a\u{1B}[2J  b\tc\u{202E}d") == "a [2J b c d")
        let long = text("550-5.1.1 \(String(repeating: "word ", count: 100))", "550 5.1.1 end")
        #expect(long?.count == 200 && long?.hasPrefix("5.1.1 word word") == true && long?.hasSuffix("…") == true)
        let marks = text("550 a\(String(repeating: "\u{301}", count: 300))")
        #expect(marks?.unicodeScalars.count == 200)
        var replies = SMTPReplies()
        for _ in 1...1000 { replies.add(Array("550-\(String(repeating: "x", count: 2000))\r\n".utf8)) }
        replies.add([0x35, 0x35, 0x30, 0x20, 0xFF, 0x0D, 0x0A])
        #expect(replies.text(of: 550, to: nil)?.count == 200)
    }
}
