import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("What keeps mail from a mail server", .timeLimit(.minutes(30)))
struct SMTPObstacleTests {
    private typealias Certificate = MailCatcher.Certificate

    /// What is in the way to the server at a URL. The timeouts are so long that they do not end during a test.
    private func obstacle(
        _ url: String,
        trusting pair: MailCatcher.Certificate? = nil,
        connect: Duration = .seconds(300)
    ) async throws -> SMTPObstacle? {
        let limits = SMTPLimits(connect: connect, reply: .seconds(300), mail: .seconds(300))
        return try await SMTPServer(url: url, caFile: pair?.certificate).obstacle(within: limits)
    }

    @Test func `nothing is in the way of a plain session, or of one with TLS and a login`() async throws {
        let plain = try await MailCatcher.start()
        #expect(try await obstacle(plain.url) == nil)
        try await plain.stop()
        try await Certificate.with { pair in
            let catcher = try await MailCatcher.start(.starttls(pair), .auth(user: "kim", password: "right"))
            #expect(try await obstacle("smtp://kim:right@127.0.0.1:\(catcher.port)", trusting: pair) == nil)
            #expect(try await catcher.stop().count == 1, "a login, and no mail")
            let implicit = try await MailCatcher.start(.smtps(pair))
            #expect(try await obstacle("smtps://127.0.0.1:\(implicit.port)", trusting: pair) == nil)
            try await implicit.stop()
        }
    }

    @Test func `a server that is not there is unreachable, and a host without an address is unknown`() async throws {
        let catcher = try await MailCatcher.start()
        try await catcher.stop()
        guard case .unreachable? = try await obstacle(catcher.url) else {
            Issue.record("a port without a server must be unreachable")
            return
        }
        // A label has at most 63 characters, so no resolver is asked.
        let host = String(repeating: "a", count: 64) + ".example"
        #expect(try await obstacle("smtp://\(host)") == .unknownHost)
    }

    @Test func `a server that refuses this machine is quoted`() async throws {
        let catcher = try await MailCatcher.start(.greet("554 5.7.1 No service for 192.0.2.1"))
        #expect(try await obstacle(catcher.url) == .greetingRefused(reason: "554 5.7.1 No service for 192.0.2.1"))
        try await catcher.stop()
    }

    @Test func `a server that hangs up, or waits for TLS, does not greet`() async throws {
        let server = try SilentServer()
        async let found = obstacle(server.url)
        try await server.accept().hangUp()
        #expect(try await found == .noGreeting)
        try await Certificate.with { pair in
            let catcher = try await MailCatcher.start(.smtps(pair))
            #expect(try await obstacle(catcher.url, connect: .seconds(3)) == .noGreeting)
            try await catcher.stop()
        }
    }

    @Test func `TLS that is required may not be offered, or fail`() async throws {
        let catcher = try await MailCatcher.start()
        #expect(try await obstacle(catcher.url + "?tls=required") == .noTLS)
        guard case .tlsFailed? = try await obstacle("smtps://127.0.0.1:\(catcher.port)") else {
            Issue.record("TLS with a server that speaks plain SMTP must fail")
            return
        }
        try await catcher.stop()
    }

    @Test(arguments: ["smtp", "smtps"])
    func `a certificate may have expired, be for another name, or be from a stranger`(scheme: String) async throws {
        /// What is in the way to a server with the certificate.
        func obstacle(_ pair: MailCatcher.Certificate, isTrusted: Bool = true) async throws -> SMTPObstacle? {
            let catcher = try await MailCatcher.start(scheme == "smtps" ? .smtps(pair) : .starttls(pair))
            let url = "\(scheme)://127.0.0.1:\(catcher.port)?tls=required"
            let found = try await self.obstacle(url, trusting: isTrusted ? pair : nil)
            try await catcher.stop()
            return found
        }
        try await Certificate.with(hasExpired: true) { pair in
            let found = try await obstacle(pair)
            #expect(found == .certificateOutdated)
        }
        try await Certificate.with(names: "DNS:mail.example") { pair in
            let found = try await obstacle(pair)
            #expect(found == .certificateOfOtherName)
        }
        try await Certificate.with { pair in
            let (stranger, friend) = (try await obstacle(pair, isTrusted: false), try await obstacle(pair))
            #expect(stranger == .certificateUntrusted && friend == nil)
        }
    }

    @Test(arguments: ["smtp", "smtps"])
    func `a machine that cannot read its authorities verifies no certificate`(scheme: String) async throws {
        try await Certificate.with { pair in
            let catcher = try await MailCatcher.start(scheme == "smtps" ? .smtps(pair) : .starttls(pair))
            let missing = Certificate(certificate: "\(pair.certificate).missing", key: pair.key)
            let url = "\(scheme)://127.0.0.1:\(catcher.port)?tls=required"
            #expect(try await obstacle(url, trusting: missing) == .authoritiesUnreadable)
            try await catcher.stop()
        }
    }

    @Test func `a login may be refused, or not be offered`() async throws {
        let catcher = try await MailCatcher.start(.auth(user: "kim", password: "right"))
        let refused = try await obstacle("smtp://kim:wrong@127.0.0.1:\(catcher.port)?tls=optional")
        #expect(refused == .loginRefused(reason: "535 5.7.8 Authentication credentials invalid"))
        try await catcher.stop()
        let server = try SilentServer()
        async let found = obstacle(server.url.replacing("//", with: "//kim:right@") + "?tls=optional")
        let client = try await server.accept()
        try await onThread {
            try client.takeNothing()
            client.hangUp()
        }
        #expect(try await found == .loginNotOffered)
    }

    @Test func `a server that refuses something else is quoted`() async throws {
        let server = try SilentServer()
        async let found = obstacle(server.url)
        let client = try await server.accept()
        try await onThread {
            for (reply, command) in [("220 ready", "EHLO"), ("250 hello", "NOOP")] {
                client.sendLine(reply)
                let line = try client.receive(upTo: "\r\n")
                #expect(line.hasPrefix(command))
            }
            client.sendLine("530 5.7.0 Authentication required")
            client.hangUp()
        }
        #expect(try await found == .other(reason: "530 5.7.0 Authentication required"))
    }
}
