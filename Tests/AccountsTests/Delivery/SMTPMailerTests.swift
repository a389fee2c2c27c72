import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Sending mail over SMTP", .timeLimit(.minutes(30)))
struct SMTPMailerTests {
    private static let id = "0198C0DE-0000-7000-8000-000000000001"

    private func mail(
        to: String = "person@example.com",
        subject: String = "Hello",
        text: String = "Hello,\n\n123456"
    ) throws -> Mail {
        try Mail(
            from: "no-reply@accounts.example",
            fromName: "가입 \"서비스\"",
            to: to,
            subject: subject,
            text: text,
            id: Self.id,
            date: Date(timeIntervalSince1970: 1_773_396_000)
        )
    }

    /// The error of sending one mail through a new mailer; nil if the mail was accepted.
    private func failure(url: String, caFile: String? = nil) async throws -> MailError? {
        let mail = try mail()
        let mailer = try SMTPMailer(to: SMTPServer(url: url, caFile: caFile), limits: .only())
        let failure = await mailer.failure(sending: mail)
        await mailer.shutdown()
        return failure
    }

    @Test func `a Korean mail arrives unchanged`() async throws {
        let catcher = try await MailCatcher.start()
        let text = Language.korean.messages.text(of: .signUp, "012345", minutes: 10, link: nil, serviceName: "서비스")
        let subject = "아주 긴 제목이라서 한 줄에 다 들어가지 않는 메일의 제목입니다 👨‍👩‍👧"

        let mailer = try SMTPMailer(to: SMTPServer(url: catcher.url), limits: .only())
        try await mailer.send(mail(subject: subject, text: text.text))
        await mailer.shutdown()

        let received = try await catcher.next()
        #expect(received.to == ["person@example.com"])
        #expect(received.from == "no-reply@accounts.example")
        #expect(received.subject == subject)
        #expect(received.text == text.text + "\n")
        #expect(received.headers["From"] == #""가입 \"서비스\"" <no-reply@accounts.example>"#)
        #expect(received.headers["To"] == "person@example.com")
        #expect(received.headers["Date"] == "Fri, 13 Mar 2026 10:00:00 +0000")
        #expect(received.headers["Message-ID"] == "<\(Self.id)@accounts.example>")
        #expect(received.headers["Auto-Submitted"] == "auto-generated")
        #expect(received.headers["Content-Type"] == "text/plain; charset=\"utf-8\"")
        try await catcher.stop()
    }

    @Test(arguments: [
        "Hello,\n\n123456\n\nGood-bye.",
        ".\n..\n.hidden\r\nlines that begin with a dot\rand end in their own way",
        String(repeating: "a line longer than any server takes ", count: 60),
        "",
    ])
    func `any text arrives unchanged`(text: String) async throws {
        let catcher = try await MailCatcher.start()
        let mailer = try SMTPMailer(to: SMTPServer(url: catcher.url), limits: .only())
        try await mailer.send(mail(text: text))
        await mailer.shutdown()

        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        #expect(try await catcher.next().text == lines.joined(separator: "\n") + "\n")
        try await catcher.stop()
    }

    @Test func `concurrently sent mails all arrive`() async throws {
        let catcher = try await MailCatcher.start()
        let mailer = try SMTPMailer(to: SMTPServer(url: catcher.url), limits: .only())
        let subjects = (1...20).map { "Mail \($0)" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for subject in subjects {
                group.addTask { try await mailer.send(mail(subject: subject)) }
            }
            try await group.waitForAll()
        }
        await mailer.shutdown()

        var received: Set<String> = []
        for _ in subjects { received.insert(try await catcher.next().subject) }
        #expect(received == Set(subjects))
        try await catcher.stop()
    }

    @Test func `a mailer refuses mail after its shutdown`() async throws {
        let mailer = try SMTPMailer(to: SMTPServer(url: "smtp://127.0.0.1"))
        await mailer.shutdown()
        await #expect(throws: MailError.temporary(reply: nil, reason: "the mailer has shut down")) {
            try await mailer.send(mail())
        }
    }

    @Test(arguments: [
        SMTPLimits.only(connect: .milliseconds(200)), .only(reply: .seconds(1)), .only(mail: .milliseconds(200)),
    ])
    func `a server that does not answer causes a temporary error`(limits: SMTPLimits) async throws {
        let server = try SilentServer()
        let mailer = try SMTPMailer(to: SMTPServer(url: server.url), limits: limits)
        #expect(try await mailer.failure(sending: mail()) == .temporary(reply: nil, reason: "Timeout was reached"))
        await mailer.shutdown()
    }

    @Test func `a shutdown waits for a running delivery no longer than its timeout`() async throws {
        let server = try SilentServer()
        let mailer = try SMTPMailer(to: SMTPServer(url: server.url), limits: .only(mail: .milliseconds(200)))
        let mail = try mail()
        async let underWay = mailer.failure(sending: mail)
        let client = try await server.accept()
        await mailer.shutdown()
        #expect(await underWay == .temporary(reply: nil, reason: "Timeout was reached"))
        client.hangUp()
    }

    @Test func `the 65th waiting mail is refused, and a shutdown refuses the 64 others`() async throws {
        let server = try SilentServer()
        let mailer = try SMTPMailer(to: SMTPServer(url: server.url), limits: .only())
        let mail = try mail()
        async let underWay = mailer.failure(sending: mail)
        let client = try await server.accept()
        try await withThrowingTaskGroup(of: MailError?.self) { waiting in
            for _ in 1...65 {
                waiting.addTask { await mailer.failure(sending: mail) }
            }
            #expect(try await waiting.next() == .temporary(reply: nil, reason: "too many mails are waiting"))

            async let end: Void = mailer.shutdown()
            for try await error in waiting {
                #expect(error == .temporary(reply: nil, reason: "the mailer has shut down"))
            }
            client.hangUp()
            await end
        }
        #expect(await underWay?.isTemporary == true)
    }

    @Test func `an unanswered QUIT does not delay a shutdown`() async throws {
        // The timeout is long enough to send the mail on a busy machine.
        let reply = SMTPLimits().reply
        #expect(reply <= .seconds(10))
        let server = try SilentServer()
        let mailer = try SMTPMailer(to: SMTPServer(url: server.url), limits: .only(reply: reply))
        let mail = try mail()
        async let sent = mailer.failure(sending: mail)
        let client = try await server.accept()
        try await onThread { try client.takeMail() }
        #expect(await sent == nil)
        await mailer.shutdown()
        #expect(try client.receive(upTo: "\r\n") == "QUIT\r\n")
        client.hangUp()
    }

    @Test func `a mail uses the connection that was opened before it`() async throws {
        let server = try SilentServer()
        let mailer = try SMTPMailer(to: SMTPServer(url: server.url), limits: .only())
        let mail = try mail()
        async let connected: Void = mailer.connect()
        let client = try await server.accept()
        try await onThread { try client.takeNothing() }
        try await connected
        async let sent = mailer.failure(sending: mail)
        try await onThread { try client.takeMail(isFirst: false) }
        #expect(await sent == nil)
        client.hangUp()
        await mailer.shutdown()
    }

    @Test func `connecting to a server that refuses causes a temporary error`() async throws {
        let catcher = try await MailCatcher.start()
        let mailer = try SMTPMailer(to: SMTPServer(url: catcher.url))
        try await mailer.connect()
        try await catcher.stop()
        let error = await #expect(throws: MailError.self) { try await mailer.connect() }
        #expect(error?.isTemporary == true)
        await mailer.shutdown()
    }

    @Test func `a server that dies in the middle of a mail causes a temporary error, and the next mail reconnects`()
        async throws
    {
        let server = try SilentServer()
        let mailer = try SMTPMailer(to: SMTPServer(url: server.url), limits: .only())
        let mail = try mail()
        async let first = mailer.failure(sending: mail)
        let dying = try await server.accept()
        try await onThread { try dying.dieAfterRecipient() }
        #expect(await first?.isTemporary == true)
        async let second = mailer.failure(sending: mail)
        let client = try await server.accept()
        try await onThread { try client.takeMail() }
        #expect(await second == nil)
        client.hangUp()
        await mailer.shutdown()
    }

    @Test func `STARTTLS is used if the server offers it`() async throws {
        try await MailCatcher.Certificate.with { pair in
            let catcher = try await MailCatcher.start(.starttls(pair))
            #expect(try await failure(url: catcher.url, caFile: pair.certificate) == nil)
            #expect(try await catcher.next().tls)
            try await catcher.stop()
        }
    }

    @Test func `smtps uses TLS from the first byte`() async throws {
        try await MailCatcher.Certificate.with { pair in
            let catcher = try await MailCatcher.start(.smtps(pair))
            #expect(try await failure(url: "smtps://127.0.0.1:\(catcher.port)", caFile: pair.certificate) == nil)
            #expect(try await catcher.next().tls)
            try await catcher.stop()
        }
    }

    @Test(arguments: ["", "?tls=required"])
    func `an untrusted certificate is refused`(query: String) async throws {
        try await MailCatcher.Certificate.with { pair in
            let catcher = try await MailCatcher.start(.starttls(pair))
            let error = try #require(try await failure(url: catcher.url + query))
            #expect(error.isTemporary)
            #expect(try await catcher.stop().isEmpty)
        }
    }

    @Test func `a login is sent over TLS, with its percent-encoding decoded`() async throws {
        try await MailCatcher.Certificate.with { pair in
            let catcher = try await MailCatcher.start(.starttls(pair), .auth(user: "us@er", password: "p:a/s%s 비밀"))
            let url = "smtp://us%40er:p%3Aa%2Fs%25s%20%EB%B9%84%EB%B0%80@127.0.0.1:\(catcher.port)"
            #expect(try await failure(url: url, caFile: pair.certificate) == nil)

            let events = try await catcher.stop()
            guard case .login("us@er")? = events.first, case .mail(let mail)? = events.last else {
                Issue.record("the first event is not the login, or the last one not the mail")
                return
            }
            #expect(mail.tls)
        }
    }

    @Test func `a wrong password causes a temporary error`() async throws {
        try await MailCatcher.Certificate.with { pair in
            let catcher = try await MailCatcher.start(.starttls(pair), .auth(user: "user", password: "right"))
            let url = "smtp://user:wrong@127.0.0.1:\(catcher.port)"
            let error = try #require(try await failure(url: url, caFile: pair.certificate))
            #expect(error == .temporary(reply: 535, reason: "5.7.8 Authentication credentials invalid"))
            try await catcher.stop()
        }
    }

    @Test func `a login is never sent in plain text`() async throws {
        let catcher = try await MailCatcher.start(.auth(user: "user", password: "password"))
        let error = try #require(try await failure(url: "smtp://user:password@127.0.0.1:\(catcher.port)"))
        #expect(error.isTemporary)
        #expect(try await catcher.stop().isEmpty)
    }

    @Test func `nothing is sent in plain text if TLS is required`() async throws {
        let catcher = try await MailCatcher.start()
        let error = try #require(try await failure(url: catcher.url + "?tls=required"))
        #expect(error.isTemporary)
        #expect(try await catcher.stop().isEmpty)
    }

    // The address 0.0.0.0 is not a loopback address, but Linux connects it to this machine.
    @Test(arguments: ["", "user:password@"])
    func `nothing is sent in plain text to a host that is not loopback`(credentials: String) async throws {
        let catcher = try await MailCatcher.start()
        let error = try #require(try await failure(url: "smtp://\(credentials)0.0.0.0:\(catcher.port)"))
        #expect(error.isTemporary)
        #expect(try await catcher.stop().isEmpty)
    }

    @Test func `a host that is not loopback gets mail over STARTTLS`() async throws {
        try await MailCatcher.Certificate.with { pair in
            let catcher = try await MailCatcher.start(.starttls(pair))
            #expect(try await failure(url: "smtp://0.0.0.0:\(catcher.port)", caFile: pair.certificate) == nil)
            #expect(try await catcher.next().tls)
            try await catcher.stop()
        }
    }

    @Test func `a host that is not loopback gets mail in plain text with tls=optional`() async throws {
        let catcher = try await MailCatcher.start()
        #expect(try await failure(url: "smtp://0.0.0.0:\(catcher.port)?tls=optional") == nil)
        #expect(try await catcher.next().tls == false)
        try await catcher.stop()
    }

    @Test(arguments: [
        (
            "451 4.7.1 Greylisted, please come back later",
            MailError.temporary(reply: 451, reason: "4.7.1 Greylisted, please come back later")
        ),
        (
            "550 5.1.1 <ADDRESS>: Recipient address rejected: User unknown in virtual mailbox table",
            .permanent(
                reply: 550,
                reason: "5.1.1 <address>: Recipient address rejected: User unknown in virtual mailbox table"
            )
        ),
        (
            "550-5.1.1 The account that you tried to reach\r\n550-5.1.1 does not exist:\r\n550 5.1.1 ADDRESS.",
            .permanent(reply: 550, reason: "5.1.1 The account that you tried to reach does not exist: <address>")
        ),
    ])
    func `reply 451 causes a temporary error, reply 550 a permanent one, with the text of the reply`(
        reply: String,
        error: MailError
    ) async throws {
        let catcher = try await MailCatcher.start(.refuse(reply))
        #expect(try await failure(url: catcher.url) == error)
        try await catcher.stop()
    }

    @Test func `a delivery returns the reply with which the server has accepted the mail`() async throws {
        let catcher = try await MailCatcher.start(.accept("250 2.0.0 Ok: queued as 4Zx1 for <person@example.com>"))
        let mailer = try SMTPMailer(to: SMTPServer(url: catcher.url), limits: .only())
        for _ in 1...2 {
            #expect(try await mailer.send(mail()) == "250 2.0.0 Ok: queued as 4Zx1 for <address>")
        }
        await mailer.shutdown()
        try await catcher.stop()
    }

    @Test func `a server that refuses the connection is quoted`() async throws {
        let server = try SilentServer()
        let mailer = try SMTPMailer(to: SMTPServer(url: server.url), limits: .only())
        let mail = try mail()
        async let failure = mailer.failure(sending: mail)
        let client = try await server.accept()
        client.sendLine("554 5.7.1 No service for 192.0.2.1")
        #expect(await failure == .temporary(reply: 554, reason: "5.7.1 No service for 192.0.2.1"))
        client.hangUp()
        await mailer.shutdown()
    }

    @Test func `a refused connection causes a temporary error`() async throws {
        let catcher = try await MailCatcher.start()
        try await catcher.stop()
        let error = try #require(try await failure(url: catcher.url))
        #expect(error.isTemporary)
        #expect(error.reply == nil)
    }

    @Test(arguments: [
        "", "mail.example", "http://mail.example", "smtp://", "smtp://:587", "smtp://mail.example:0",
        "smtp://mail.example:65536", "smtp://mail.example:port", "smtp://mail.example/path",
        "smtp://mail.example?tls=no", "smtp://mail.example?tls=optional&tls=required", "smtp://mail.example#part",
        "smtp://user@mail.example",
        "smtp://:secret@mail.example", "smtp://user:@mail.example", "smtp://user:secret%0D%0AQUIT@mail.example",
        "smtp://user:%FF@mail.example", "smtp://mail%0A.example", "smtp://user:se cret@mail.example",
    ])
    func `a malformed URL is refused, and the error does not contain its password`(url: String) throws {
        let error = #expect(throws: MailError.self) { try SMTPServer(url: url) }
        #expect(error?.description.contains("secret") == false)
    }

    @Test(arguments: [
        ("smtp://mail.example", "smtp://mail.example:587", true),
        ("smtp://mail.example?tls=optional", "smtp://mail.example:587", false),
        ("smtp://user:secret@mail.example?tls=optional", "smtp://mail.example:587", false),
        ("smtps://mail.example?tls=optional", "smtps://mail.example:465", true),
        ("smtp://192.0.2.1", "smtp://192.0.2.1:587", true),
        ("smtp://127.mail.example", "smtp://127.mail.example:587", true),
        ("smtp://LOCALHOST:25", "smtp://LOCALHOST:25", false),
        ("smtp://127.0.0.2", "smtp://127.0.0.2:587", false),
        ("smtp://[::1]", "smtp://[::1]:587", false),
        ("smtp://user:secret@localhost", "smtp://localhost:587", true),
        ("smtp://localhost?tls=required", "smtp://localhost:587", true),
        ("smtp://mail.example?tls=required", "smtp://mail.example:587", true),
        ("smtp://user:secret@mail.example:25", "smtp://mail.example:25", true),
        ("SMTPS://mail.example/", "smtps://mail.example:465", true),
        ("smtps://[::1]:2465", "smtps://[::1]:2465", true),
    ])
    func `a URL sets the server, the port and whether TLS is required`(url: String, address: String, requiresTLS: Bool)
        throws
    {
        let server = try SMTPServer(url: url)
        #expect(server.url == address)
        #expect(server.requiresTLS == requiresTLS)
    }

    @Test(arguments: ["Hi\r\nBcc: all@example.com", "Hi\nthere", "Hi\rthere", "a\0b", "a\u{85}b", "a\u{2028}b"])
    func `a subject with a line break or control character is refused`(subject: String) {
        #expect(throws: MailError.self) { try mail(subject: subject) }
    }

    @Test(arguments: [
        "", "person", "@example.com", "person@", "a@b@example.com", "a@example.com>\r\nDATA", "a@example.com\n",
        "a b@example.com", "<a@example.com>", "a@example.com,b@example.com", "사람@example.com",
    ])
    func `a malformed recipient is refused`(address: String) {
        #expect(throws: MailError.self) { try mail(to: address) }
    }

    @Test func `the terminal mailer shows the code and removes control characters`() throws {
        let framed = TerminalMailer.framed(try mail(text: "Your code:\n\n123456\u{1B}[2J\u{202E}"))
        #expect(framed.contains("│ 123456[2J\n"))
    }
}

extension SMTPMailer {
    /// The error of sending the mail; nil if the mail was accepted.
    fileprivate func failure(sending mail: Mail) async -> MailError? {
        do {
            try await send(mail)
            return nil
        } catch {
            return error
        }
    }
}

extension SMTPLimits {
    /// Limits with these timeouts. The others are so long that they do not end during a test.
    fileprivate static func only(
        connect: Duration = .seconds(3600),
        reply: Duration = .seconds(3600),
        mail: Duration = .seconds(3600)
    ) -> SMTPLimits {
        SMTPLimits(connect: connect, reply: reply, mail: mail)
    }
}

/// A server on a free port that accepts connections, and sends only the lines that the test sends.
final class SilentServer: Sendable {
    let url: String
    private let socket: Int32

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { [socket] address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, size) | listen(socket, 10) | getsockname(socket, address, &size)
            }
        }
        url = "smtp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        try #require(status == 0, "no port is free")
    }

    deinit { close(socket) }

    /// Waits for a connection, and returns it. Throws if there is none within 300 seconds.
    func accept() async throws -> Client {
        try await onThread { [socket] in
            var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            try #require(poll(&waiting, 1, 300_000) == 1, "no connection within 300 seconds")
            return Client(socket: Glibc.accept(socket, nil, nil))
        }
    }

    /// A connection to the server. Its functions block.
    struct Client: Sendable {
        let socket: Int32

        func hangUp() {
            close(socket)
        }

        /// Receives one mail, and answers as an SMTP server does.
        ///
        /// - Parameter isFirst: whether the connection is new, so that the server greets first.
        func takeMail(isFirst: Bool = true) throws {
            if isFirst { try greet() }
            for (end, reply) in [
                ("\r\n", "250 sender"), ("\r\n", "250 recipient"), ("\r\n", "354 go on"),
                ("\r\n.\r\n", "250 taken"),
            ] {
                try receive(upTo: end)
                sendLine(reply)
            }
        }

        /// Answers a client that opens a connection and sends no mail yet.
        func takeNothing() throws {
            try greet()
            #expect(try receive(upTo: "\r\n") == "NOOP\r\n")
            sendLine("250 nothing")
        }

        /// Closes the connection when the client wants to send the text of the mail.
        func dieAfterRecipient() throws {
            try greet()
            for reply in ["250 sender", "250 recipient"] {
                try receive(upTo: "\r\n")
                sendLine(reply)
            }
            try receive(upTo: "\r\n")
            hangUp()
        }

        private func greet() throws {
            sendLine("220 ready")
            try receive(upTo: "\r\n")
            sendLine("250 hello")
        }

        @discardableResult
        func receive(upTo end: String) throws -> String {
            var received: [UInt8] = []
            var byte: UInt8 = 0
            while !received.suffix(end.utf8.count).elementsEqual(end.utf8) {
                var readable = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                try #require(
                    poll(&readable, 1, 300_000) == 1 && recv(socket, &byte, 1, 0) == 1,
                    "\(end.debugDescription) was not received"
                )
                received.append(byte)
            }
            return String(decoding: received, as: UTF8.self)
        }

        func sendLine(_ reply: String) {
            let line = Array("\(reply)\r\n".utf8)
            send(socket, line, line.count, Int32(MSG_NOSIGNAL))
        }
    }
}

extension MailError {
    fileprivate var isTemporary: Bool {
        if case .temporary = self { true } else { false }
    }

    fileprivate var reply: Int? {
        switch self {
        case .temporary(let reply, _), .permanent(let reply, _): reply
        }
    }
}
