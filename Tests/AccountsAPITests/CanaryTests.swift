import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Personal data and secrets in logs, metrics and dumps", .freshDatabase)
struct CanaryTests {
    /// The values that the person types. Each is unique, so a search finds nothing else.
    private static let email = "canary-email@nightingale.example"
    private static let username = "canarybird"
    private static let displayName = "Canary Nachtigall"
    private static let birthDate = "1987-06-05"
    private static let password = "canary pass phrase 8c1f"

    /// PostgreSQL logs every statement here, with the settings that docs/security.md requires.
    @Test(arguments: Visitor.Transport.allCases)
    func `logs, metrics and dumps contain no secret, and only the tables of accounts contain typed values`(
        transport: Visitor.Transport
    )
        async throws
    {
        let settings = ["log_statement=all", "log_parameter_max_length=0", "log_parameter_max_length_on_error=0"]
        try await Cluster.withRunning(settings: settings) { cluster in
            _ = try Migrations().apply(to: cluster.conninfo)
            try await TestServer.with(.socket, conninfo: cluster.conninfo) { site in
                let session = try DatabaseSession(to: cluster.conninfo)
                var secrets = try await Self.sendGoodAndBadRequests(site.visitor(transport), site)
                let otherSecrets = try await Self.failSignup(site.visitor(transport), site, session)
                // Two writes fail in the database.
                try session.run("ALTER TABLE drafts ADD CONSTRAINT broken CHECK (revision < 0) NOT VALID")
                let other = site.visitor(transport)
                #expect(try await other.start().status == 500)
                try session.run("ALTER TABLE drafts DROP CONSTRAINT broken")
                try await other.start()
                try session.run("ALTER TABLE proofs ADD CONSTRAINT broken CHECK (generation < 0) NOT VALID")
                #expect(try await other.put("email", ["email": .string(Self.email)]).status == 500)
                secrets += [other.tokenText!, Self.password]
                try await site.service.deliver()

                let typed = [Self.email, Self.username, Self.displayName, Self.birthDate]
                let log = site.log.text
                #expect(site.log.lines.count > 40)
                #expect(log.contains("23514"), "the log contains the cause of the failure")
                let metrics = Monitor(of: site.service.signups, version: "1").exposition()
                #expect(metrics.contains("accounts_funnel_total"))
                let server = try cluster.log()
                #expect(server.contains("INSERT INTO identifiers"), "every statement is in the log")
                for secret in secrets + otherSecrets + typed + ["$argon2"] {
                    #expect(!log.contains(secret), "the log contains \(secret)")
                    #expect(!metrics.contains(secret), "the metrics contain \(secret)")
                    #expect(!server.contains(secret), "PostgreSQL's log contains \(secret)")
                }

                let dump = try Dump.of(cluster.conninfo)
                for secret in secrets + otherSecrets { #expect(Self.tables(of: dump, with: secret) == []) }
                #expect(Self.tables(of: dump, with: Self.email) == ["accounts", "identifiers"])
                #expect(Self.tables(of: dump, with: Self.username) == ["accounts", "identifiers"])
                #expect(Self.tables(of: dump, with: Self.displayName) == ["accounts"])
                #expect(Self.tables(of: dump, with: Self.birthDate) == ["accounts"])
                #expect(Self.tables(of: dump, with: "$argon2") == ["credentials"])
                #expect(try session.query("SELECT FROM outbox WHERE sealed IS NOT NULL").isEmpty)
            }
        }
    }

    /// Sends good and bad requests to every path, from two devices. Returns the secrets that occurred.
    private static func sendGoodAndBadRequests(_ kim: Visitor, _ site: TestServer) async throws -> [String] {
        try await kim.start()
        try await kim.put("email", ["email": .string(email), displayName: 1])
        try await kim.put("email", #"{"email": "\#(email)", "email": "\#(email)"}"#)
        try await kim.put("email", ["email": .string(displayName)])
        try await kim.put("email", ["email": .string(email)])
        _ = try await kim.send(.get, "/signup/\(username)")
        _ = try await kim.send(.get, "/\(username)?password=\(username)")
        let code = try await site.service.readCode(for: email)
        let ticket = try site.service.mailbox.ticket(for: email)
        _ = try await kim.send(.get, "/signup/ticket?ticket=\(ticket)")
        _ = try await kim.send(.post, "/signup/ticket", ["ticket": .string(ticket), displayName: 1])
        let redeemed = try await site.visitor(.bearer).send(
            .post,
            "/signup/ticket",
            ["ticket": .string(ticket), "transport": "bearer"]
        )
        let otherToken = try #require(redeemed.json["token"]?.string)
        try await kim.put("code", ["code": .string(code == "000000" ? "000001" : "000000")])
        _ = try await kim.send(.post, "/signup/code/resend")
        try await kim.put("code", ["code": .string(code)])
        try await kim.put("password", ["password": .string(password), "confirmation": .string(displayName)])
        try await kim.put("password", #"{"password": "\#(password)", "confirmation": "\#(password)"#)
        try await kim.put("password", ["password": .string(password), "confirmation": .string(password)])
        let first = kim.tokenText!
        #expect(try await kim.send(.post, "/signup/handoff").status == 202)
        let link = try await site.linkCode()
        _ = try await kim.send(.get, "/signup/resume?code=\(link)")
        _ = try await kim.send(.post, "/signup/resume", ["code": .string(link), displayName: 1])
        let attempt = "canary-of-an-attempt-\(kim.transport.rawValue)"
        let resume: JSON = [
            "code": .string(link), "attempt": .string(attempt), "transport": .string(kim.transport.rawValue),
        ]
        kim.tokenText = nil
        kim.keepToken(of: try await kim.send(.post, "/signup/resume", resume))
        #expect(try await kim.send(.post, "/signup/resume", resume).status == 200)
        try await kim.put("password", ["password": .string(password), "confirmation": .string(password)])
        try await kim.put("profile", ["username": .string(username), "display_name": .string(displayName)])
        try await kim.put("contact", ["birth_date": .string(birthDate)])
        try await kim.put("contact", ["birth_date": .string(birthDate)], headers: [.ifMatch: "\"1\""])
        let step = try await kim.send(.get, "/signup/totp")
        try await kim.put("totp", ["totp": .string(kim.code(of: step) == "000000" ? "000001" : "000000")])
        let totp = kim.code(of: step)
        let enrolled = try await kim.put("totp", ["totp": .string(totp)])
        let recovery = enrolled.strings("recovery_codes")
        #expect(recovery.count == 10)
        try await kim.put("terms", ["terms": false])
        try await kim.put("terms", ["terms": true])
        _ = try await kim.send(.get, "/signup/review")
        _ = try await kim.send(.get, "/signup", headers: [.requestID: "\(password)"])
        #expect(try await kim.commit().status == 201)
        _ = try await kim.commit()
        return [
            code, ticket, otherToken, link, attempt, totp, step.json["secret"]?.string ?? "no secret", first,
            kim.tokenText!,
        ] + recovery
    }

    /// Leads a sign-up through failures: an exhausted code, a taken username, an address that another account gets
    /// first, and a cancelled draft. Returns the codes, tokens and other secrets that occurred.
    private static func failSignup(_ lee: Visitor, _ site: TestServer, _ session: DatabaseSession) async throws
        -> [String]
    {
        let address = "second-canary@nightingale.example"
        try await lee.start()
        try await lee.put("email", ["email": .string(address)])
        let code = try await site.service.readCode(for: address)
        let wrong = code == "313131" ? "323232" : "313131"
        for _ in 0..<6 { try await lee.put("code", ["code": .string(wrong)]) }
        #expect(try await lee.put("code", ["code": .string(code)]).refusals == ["code:code_exhausted"])
        try session.letPass("1 minute")
        #expect(try await lee.send(.post, "/signup/code/resend").status == 202)
        let second = try await site.service.readCode(for: address)
        try await lee.put("code", ["code": .string(second)])
        try await lee.put("password", ["password": .string(password), "confirmation": .string(password)])
        #expect(try await lee.put("profile", ["username": .string(username)]).refusals == ["username:taken"])
        try await lee.put("profile", ["username": "leebird"])
        try await lee.put("contact", ["birth_date": .string(birthDate)])
        try await lee.put("terms", ["terms": true])
        // Another account gets the address first. The address is a parameter, because PostgreSQL logs the statement
        // without its parameters.
        try session.query("INSERT INTO identifiers SELECT 'email', \(address), id FROM accounts LIMIT 1")
        #expect(try await lee.commit().slug == "identifier-taken")
        #expect(try await lee.send(.delete, "/signup", headers: [.ifMatch: "\"1\""]).status == 412)
        #expect(try await lee.send(.delete, "/signup").status == 204)
        #expect(try await lee.put("terms", ["terms": true]).status == 410)
        return [code, second, wrong, "leebird", lee.tokenText!]
    }

    @Test func `a dump with unfinished sign-ups contains no typed value, code or token`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.put("email", ["email": .string(Self.email)])
            // One dump is made while the mail is queued with its address and code, one before the commit.
            let conninfo = FreshDatabase.current.conninfo
            var dumps = [try Dump.of(conninfo)]
            let code = try await site.service.readCode(for: Self.email)
            try await kim.put("code", ["code": .string(code)])
            try await kim.put(
                "password",
                ["password": .string(Self.password), "confirmation": .string(Self.password)]
            )
            try await kim.put(
                "profile",
                ["username": .string(Self.username), "display_name": .string(Self.displayName)]
            )
            try await kim.put("contact", ["birth_date": .string(Self.birthDate)])
            let ready = try await kim.put("terms", ["terms": true])
            #expect(ready.json["state"] == "ready")
            dumps.append(try Dump.of(conninfo))
            for dump in dumps {
                #expect(dump.contains(ready.json["id"]?.string ?? "no id"), "the draft is in the dump")
                let values = [
                    Self.email, "nightingale", Self.username, Self.displayName, Self.birthDate, Self.password,
                    "$argon2",
                ]
                for value in values {
                    #expect(!dump.contains(value))
                    // A dump contains bytes in hexadecimal.
                    #expect(!dump.contains(value.utf8.map { String(format: "%02x", $0) }.joined()))
                }
                #expect(!dump.contains("\t\(code)\t"))
                #expect(!dump.contains(kim.tokenText!))
            }
        }
    }

    /// The tables whose rows contain the secret, as text or, in binary columns, in hexadecimal.
    private static func tables(of dump: String, with secret: String) -> [String] {
        let forms = [secret, secret.utf8.map { String(format: "%02x", $0) }.joined()]
        var table = ""
        var found: Set<String> = []
        for line in dump.split(separator: "\n") {
            if let copied = line.firstMatch(of: #/^COPY public\.([a-z_0-9]+) /#) { table = String(copied.1) }
            if forms.contains(where: { occurs($0, in: line) }) { found.insert(table) }
        }
        return found.sorted()
    }

    /// True if the line contains the text. Six digits also occur by chance, in a digest or in the fraction of a second,
    /// so they count only if no hexadecimal digit and no period is next to them.
    private static func occurs(_ text: String, in line: Substring) -> Bool {
        guard text.utf8.count == 6, text.allSatisfy(\.isNumber) else { return line.contains(text) }
        return line.ranges(of: text).contains { range in
            let (before, after) = (line[..<range.lowerBound].last, line[range.upperBound...].first)
            return ![before, after].contains { $0 == "." || $0?.isHexDigit == true }
        }
    }
}
