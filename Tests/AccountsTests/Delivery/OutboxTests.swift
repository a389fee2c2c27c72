import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("The outbox", .freshDatabase, .timeLimit(.minutes(30)))
struct OutboxTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    // MARK: - Delivery

    @Test func `a delivered mail loses its address`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            #expect(try session.number(of: "outbox WHERE state = 'waiting' AND sealed IS NOT NULL") == 1)
            #expect(try await service.sender.deliverNext())
            #expect(service.mailbox.mails.map(\.to) == ["kim@example.com"])
            #expect(
                try session.number(
                    of:
                        "outbox WHERE state = 'delivered' AND sealed IS NULL AND finished_at IS NOT NULL AND attempts = 1"
                ) == 1
            )
            #expect(try await service.sender.deliverNext() == false)
            #expect(service.mailbox.attempts.count == 1)
        }
    }

    @Test func `the mail that has been due longest is delivered first`() async throws {
        try await TestSignups.with { service in
            for number in 1...3 {
                _ = try await service.fill(service.start(), through: "email", email: "kim\(number)@example.com")
            }
            try await service.deliver()
            #expect(service.mailbox.mails.map(\.to) == (1...3).map { "kim\($0)@example.com" })
        }
    }

    @Test func `mail is written in the language of the draft`() async throws {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.fill(service.start(in: .korean)))
            _ = try await service.fill(service.start(in: .korean), through: "email")
            try await service.deliver()
            let mail = try #require(service.mailbox.mails.first)
            let code = try #require(Mailbox.code(in: mail.text))
            let link = try #require(mail.text.split(separator: "\n").last { $0.hasPrefix("http") }).description
            #expect(link.hasPrefix("http://localhost:8080/signup/ticket?ticket="))
            let expected = [
                Language.korean.messages.text(of: .signUp, code, minutes: 10, link: link, serviceName: "Acme"),
                Language.korean.messages.accountCreated(
                    serviceName: "Acme",
                    address: "kim@example.com",
                    link: "http://localhost:8080/recovery",
                    contact: "https://acme.example/help"
                ),
                Language.korean.messages.alreadyRegistered(serviceName: "Acme", link: "http://localhost:8080/sign-in"),
            ]
            #expect(service.mailbox.mails.map { MailText(subject: $0.subject, text: $0.text) } == expected)
        }
    }

    @Test func `a mail in a language that the service no longer has is written in English`() throws {
        let keys = try KeyRing(TestSignups.keys)
        let languages = try TextsFile("languages: {ja: {name: 日本語}}", file: "texts.yaml").languages
        let content = Outbox.Content(to: "kim@example.com", language: try #require(languages["ja"]), code: nil)
        let mail = Outbox(keys: keys, languages: languages).seal(content, from: .unknown, at: Date())
        for (known, tag) in [(languages, "ja"), (Language.builtIn, "en")] {
            #expect(Outbox(keys: keys, languages: known).open(mail.sealed, of: ID(mail.id))?.language.tag == tag)
        }
    }

    @Test func `concurrent senders deliver each mail once`() async throws {
        try await TestSignups.with { service in
            _ = try await atOnce(60) { number in
                try await service.submit(
                    ["email": .string("kim\(number)@example.com")],
                    to: "email",
                    of: service.start()
                )
            }
            try await TestSignups.with { other in
                let services = [service, other, service, other]
                _ = try await atOnce(4) { try await services[$0].deliver() }
                let mails = service.mailbox.mails + other.mailbox.mails
                #expect(mails.count == 60)
                #expect(Set(mails.map(\.id)).count == 60)
                #expect(Set(mails.map(\.to)).count == 60)
            }
            #expect(try session.number(of: "outbox WHERE state = 'delivered' AND attempts = 1") == 60)
        }
    }

    @Test func `a mail is sent if and only if its transaction committed`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let mails = service.mailbox.mails.count
            try session.refuse("INSERT", on: "consents")
            #expect(await outcome { try await service.signups.commit(draft) } == "database refused: P0001")
            try await service.deliver()
            #expect(service.mailbox.mails.count == mails)

            try session.allow()
            _ = try await service.signups.commit(draft)
            _ = try await service.signups.commit(draft)
            try await service.deliver()
            #expect(service.mailbox.mails.count == mails + 1)
        }
    }

    @Test func `a mail that another transaction has locked is skipped`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            try session.run("BEGIN; UPDATE outbox SET attempts = attempts")
            #expect(try await service.sender.deliverNext() == false)
            try session.run("ROLLBACK")
            #expect(try await service.sender.deliverNext())
        }
    }

    // MARK: - Retries

    @Test func `a temporarily refused mail is retried with growing intervals`() async throws {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft())
            service.mailbox.refuse(with: .temporary(reply: 451, reason: "busy"))
            for minutes in [1, 2, 4, 8, 16, 32, 64, 128, 240, 240] {
                try session.run("UPDATE outbox SET due_at = now() WHERE state = 'waiting'")
                #expect(try await service.sender.deliverNext())
                #expect(try await service.sender.deliverNext() == false)
                let wait = try session.query(
                    "SELECT extract(epoch FROM due_at - now())::int FROM outbox WHERE state = 'waiting'"
                ).only.decode(Int.self)
                #expect((minutes * 60 - 59...minutes * 60).contains(wait))
            }
            let error = try session.query("SELECT last_error FROM outbox WHERE state = 'waiting'").only.decode(
                String.self
            )
            #expect(error == "not delivered yet: 451 busy")

            service.mailbox.refuse(with: nil)
            #expect(try await service.sender.deliverNext() == false)
            try session.letPass("4 hours")
            #expect(try await service.sender.deliverNext())
            #expect(
                service.mailbox.mails.last?.subject
                    == Language.english.messages.accountCreated(serviceName: "Acme", address: "", link: "").subject
            )
            #expect(
                try session.number(of: "outbox WHERE state = 'delivered' AND attempts = 11 AND last_error IS NULL") == 1
            )
        }
    }

    @Test func `a mail with a code is retried sooner, as long as the code is valid`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            for seconds in [5, 15, 45, 120, 120, 120, 120, 120] {
                #expect(try await service.signups.outbox.claim(1, on: service.database).count == 1)
                // The attempt may take until a minute after the claim.
                let wait = try session.query("SELECT 60 + extract(epoch FROM due_at - sending_until)::int FROM outbox")
                #expect(try wait.only.decode(Int.self) == seconds)
                try session.run("UPDATE outbox SET sending_until = NULL")
                try session.letPass("\(seconds) seconds")
            }
        }
    }

    @Test func `a mail is not claimed again while a server may be delivering it`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            let outbox = service.signups.outbox
            #expect(try await outbox.claim(1, on: service.database).count == 1)
            try session.letPass("30 seconds")
            #expect(try session.number(of: "outbox WHERE due_at < now() AND sending_until > now()") == 1)
            let mail = try session.query("SELECT id FROM outbox").only.decode(ID<Outbox>.self)
            #expect(try await outbox.claim(1, on: service.database).isEmpty)
            #expect(try await Operator(service.signups, name: "mina").retry(mail))
            #expect(try await outbox.claim(1, on: service.database).isEmpty)
            try session.letPass("31 seconds")
            #expect(try await outbox.claim(1, on: service.database).count == 1)
        }
    }

    @Test func `a retried mail is identical to the first attempt`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            service.mailbox.refuse(with: .temporary(reply: nil, reason: "no connection"))
            #expect(try await service.sender.deliverNext())
            service.mailbox.refuse(with: nil)
            try session.run("UPDATE outbox SET due_at = now()")
            #expect(try await service.sender.deliverNext())
            let messages = service.mailbox.attempts.map(\.message)
            #expect(messages.count == 2)
            #expect(Set(messages).count == 1)
            #expect(messages[0].contains("Message-ID: <"))
        }
    }

    @Test func `a sender that fails after the delivery sends the mail again with the same Message-ID`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            try session.run(
                """
                CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'dead'; END $$;
                CREATE TRIGGER die BEFORE UPDATE ON outbox FOR EACH ROW WHEN (NEW.state = 'delivered') EXECUTE FUNCTION die()
                """
            )
            await #expect(throws: DatabaseError.self) { try await service.sender.deliverNext() }
            #expect(try await service.sender.deliverNext() == false)
            try session.run("DROP FUNCTION die CASCADE; UPDATE outbox SET due_at = now(), sending_until = NULL")
            #expect(try await service.sender.deliverNext())
            #expect(service.mailbox.mails.count == 2)
            #expect(Set(service.mailbox.mails.map(\.message)).count == 1)
        }
    }

    // MARK: - Dead mail

    @Test func `a permanently refused mail is dead immediately and loses its address`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            service.mailbox.refuse(with: .permanent(reply: 550, reason: "no such mailbox"))
            #expect(try await service.sender.deliverNext())
            #expect(try await service.sender.deliverNext() == false)
            let (state, sealed, error) = try session.query("SELECT state, sealed, last_error FROM outbox").only.decode(
                String.self,
                [UInt8]?.self,
                String.self
            )
            #expect((state, sealed) == ("dead", nil))
            #expect(error == "not deliverable: 550 no such mailbox")
        }
    }

    @Test func `the replies of the mail server stay with the mail, without its address`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            try await service.deliverNext(to: .refuse("451 4.7.1 <ADDRESS>: Greylisted, please come back later"))
            func stored() throws -> (String, String?, String?) {
                try session.query("SELECT state, last_error, reply FROM outbox").only.decode(
                    String.self,
                    String?.self,
                    String?.self
                )
            }
            let greylisted = "not delivered yet: 451 4.7.1 <address>: Greylisted, please come back later"
            #expect(try stored() == ("waiting", greylisted, nil))
            try session.run("UPDATE outbox SET due_at = now()")
            try await service.deliverNext(to: .accept("250 2.0.0 Ok: kim@example.com, queued as 4Zx1"))
            #expect(try stored() == ("delivered", nil, "250 2.0.0 Ok: <address>, queued as 4Zx1"))

            try session.run("TRUNCATE outbox")
            _ = try await service.fill(service.start(), through: "email", email: "lee@example.com")
            try await service.deliverNext(to: .refuse("550 5.1.1 User lee unknown"))
            #expect(try stored() == ("dead", "not deliverable: 550 5.1.1 User <address> unknown", nil))
        }
    }

    @Test func `a mail is dead after its last attempt`() async throws {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft())
            service.mailbox.refuse(with: .temporary(reply: 451, reason: "busy"))
            for attempt in 1...OutboxSender.maximumAttempts {
                #expect(try session.number(of: "outbox WHERE state = 'waiting' AND attempts = \(attempt - 1)") == 1)
                try session.run("UPDATE outbox SET due_at = now() WHERE state = 'waiting'")
                #expect(try await service.sender.deliverNext())
            }
            #expect(try session.number(of: "outbox WHERE state = 'dead' AND sealed IS NULL AND attempts = 18") == 1)
            #expect(try session.number(of: "outbox WHERE state = 'waiting'") == 0)
        }
    }

    @Test func `an expired code is not sent, but the ticket in its mail is, for a day`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            try session.letPass("10 minutes")
            #expect(try await service.sender.deliverNext())
            let mail = try #require(service.mailbox.mails.first)
            #expect(
                mail.text.contains("This email took longer than usual") && mail.text.contains("/signup/ticket?ticket=")
            )
            #expect(Mailbox.code(in: mail.text) == nil)

            _ = try await service.fill(service.start(), through: "email", email: "lee@example.com")
            try session.letPass("24 hours")
            #expect(try await service.sender.deliverNext())
            #expect(service.mailbox.mails.count == 1)
            #expect(try session.number(of: "outbox WHERE state = 'dead' AND sealed IS NULL") == 1)
        }
    }

    @Test func `the attempts of a mail with a code become rarer when the code has expired`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            service.mailbox.refuse(with: .temporary(reply: 451, reason: "busy"))
            // The bounds of each pause: it begins after one moment and before the other.
            var pauses: [(shortest: Int, longest: Int)] = []
            while try session.number(of: "outbox WHERE state = 'waiting'") == 1 {
                let before = try session.query("SELECT floor(extract(epoch FROM now()))::bigint").only.decode(Int.self)
                #expect(try await service.sender.deliverNext())
                let (shortest, end) = try session.query(
                    """
                    SELECT extract(epoch FROM due_at - now())::bigint, ceil(extract(epoch FROM due_at))::bigint
                      FROM outbox
                    """
                ).only.decode(Int.self, Int.self)
                pauses.append((shortest, end - before))
                try session.letPass("\(max(0, shortest) + 1) seconds")
            }
            for (pause, expected) in zip(
                pauses,
                [5, 15, 45, 120, 120, 120, 120, 120, 673, 1347, 2695, 5391, 10_783, 14_400]
            ) {
                // After the first ones, a pause is as long as the age of the mail, which includes the time of the test.
                #expect(pause.longest >= expected - 5 && pause.shortest <= expected + expected / 8, "\(pauses)")
            }
            #expect(pauses.count == OutboxSender.maximumAttempts)
        }
    }

    @Test func `a server without the key of a mail does not claim it, and one with the key delivers it`() async throws {
        try await TestSignups.with(keys: "\(Self.newKey),\(TestSignups.keys)") { service in
            _ = try await service.fill(service.start(), through: "email")
            try await TestSignups.with { other in
                let hasClaimed = try await other.sender.deliverNext()
                #expect(!hasClaimed)
                #expect(try session.number(of: "outbox WHERE state = 'waiting' AND attempts = 0") == 1)
            }
            #expect(try await service.sender.deliverNext())
            #expect(service.mailbox.mails.map(\.to) == ["kim@example.com"])
        }
    }

    @Test func `a mail that this server cannot decrypt does not hold up a later one to the same address`() async throws
    {
        try await TestSignups.with { service in _ = try await service.fill(service.start(), through: "email") }
        try session.letPass("5 minutes")
        try await TestSignups.with(keys: Self.newKey) { service in
            _ = try await service.fill(service.start(), through: "email")
            #expect(try await service.sender.deliverNext())
            #expect(service.mailbox.mails.map(\.to) == ["kim@example.com"])
        }
    }

    @Test func `a mail that no server can decrypt waits until it is useless, and the list names its key`() async throws
    {
        try await TestSignups.with { service in _ = try await service.fill(service.start(), through: "email") }
        try await TestSignups.with(keys: Self.newKey) { service in
            try session.letPass("2 minutes")
            #expect(try await service.sender.deliverNext() == false)
            try await service.sender.noteMissingKeys()
            let filter = OutboxFilter(state: .waiting)
            let mails = try await Operator(service.signups, name: "mina").mails(filter, limit: 10).items
            #expect(mails.map(\.lastError) == ["cannot decrypt: ACCOUNTS_KEYS lacks the key \"test\""])
            #expect(mails.map(\.attempts) == [0])
            try session.letPass("24 hours")
            #expect(try await service.sender.deliverNext())
            #expect(try session.number(of: "outbox WHERE state = 'dead' AND sealed IS NULL") == 1)
        }
    }

    @Test func `a server with the key delivers a mail that another server has marked as undecryptable`() async throws {
        try await TestSignups.with { service in _ = try await service.fill(service.start(), through: "email") }
        try session.letPass("2 minutes")
        try await TestSignups.with(keys: Self.newKey) { try await $0.sender.noteMissingKeys() }
        #expect(try session.number(of: "outbox WHERE last_error IS NOT NULL") == 1)
        try await TestSignups.with { service in
            try await service.sender.noteMissingKeys()
            #expect(try await service.sender.deliverNext())
            #expect(service.mailbox.mails.map(\.to) == ["kim@example.com"])
            #expect(try session.number(of: "outbox WHERE state = 'delivered' AND last_error IS NULL") == 1)
        }
    }

    @Test func `a mail with an unknown template is retried, and is dead after the last attempt`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            try session.run("UPDATE outbox SET template = 'of another version'")
            #expect(try await service.sender.deliverNext())
            #expect(service.mailbox.attempts.isEmpty)
            #expect(try session.number(of: "outbox WHERE state = 'waiting' AND attempts = 1 AND due_at > now()") == 1)
            let error = try session.query("SELECT last_error FROM outbox").only.decode(String.self)
            #expect(error.hasSuffix(": another version of the service wrote it, or its row was changed"))
            try session.run("UPDATE outbox SET attempts = 17, due_at = now()")
            #expect(try await service.sender.deliverNext())
            #expect(try session.number(of: "outbox WHERE state = 'dead' AND sealed IS NULL") == 1)
        }
    }

    private static let newKey = "other:" + Data(repeating: 8, count: 32).base64EncodedString()
}
