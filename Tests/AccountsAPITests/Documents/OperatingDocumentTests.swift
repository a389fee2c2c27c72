import Foundation
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("What docs/operating.md shows", .freshDatabase, .timeLimit(.minutes(30)))
struct OperatingDocumentTests {
    /// A command, and the output that the document shows for it.
    private struct Transcript {
        let arguments: [String]
        let output: String
    }

    private static func transcripts() throws -> [Transcript] {
        let text = try String(contentsOf: Repository.root.appending(path: "docs/operating.md"), encoding: .utf8)
        return text.matches(of: /(?m)^ *```console\n *\$ accounts-api ([^\n]*)\n((?:.*\n)*?) *```$/).map { match in
            Transcript(arguments: match.1.split(separator: " ").map(String.init), output: String(match.2))
        }
    }

    /// The lines without ids, times and the widths of columns, which differ from run to run.
    private static func comparable(_ text: String) -> [String] {
        text.split(separator: "\n").map { line in
            line.replacing(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/, with: "ID")
                .replacing(/\b[0-9a-f]{8}-[0-9a-f]{4}\b/, with: "DIGITS")
                .replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/, with: "TIME")
                .replacing(/[0-9.]+ (s|min|h|d)\b( ago)?/, with: { "N \($0.1)\($0.2 ?? "")" })
                .replacing(/N (s|min)/, with: "N s").replacing(/[0-9.]+ (ms|passwords|MiB)/, with: { "N \($0.1)" })
                .replacing(/ARGON2_(MEMORY_KIB|ITERATIONS|WORKERS)=[0-9]+/, with: { "ARGON2_\($0.1)=N" })
                // What bounds the wait depends on the speed of the machine.
                .replacing(/limited by ARGON2_WAIT=5|behind a full queue of 32/, with: "BOUND")
                .replacing(/\/[^ ]*libargon2[^ ]*/, with: "LIBRARY").split(separator: " ").joined(separator: " ")
        }
    }

    @Test func `the servers log every message that the document searches for`() throws {
        let document = try String(contentsOf: Repository.root.appending(path: "docs/operating.md"), encoding: .utf8)
        let folder = Repository.root.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        let sources = try files.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
            .joined(separator: "\n")
        var messages: [String] = []
        for match in document.matches(of: /log \| grep (?:-E )?'(?:"message":)?"?([a-z(][^'"]*)/) {
            // `mail (not delivered, |is dead` stands for two messages.
            let parts = match.1.replacing(")", with: "").split(separator: "(", omittingEmptySubsequences: false)
            let endings = parts.count == 2 ? parts[1].split(separator: "|") : [""]
            messages += endings.map { "\(parts[0])\($0)" }
        }
        #expect(messages.count >= 12 && messages.contains("mail is dead") && messages.contains("applications reloaded"))
        // These are names of members, and the message of every request.
        for message in messages where !["level", "status", "request"].contains(message) {
            let isLogged = sources.contains("\"\(message)") || sources.contains("\"\"\"\n            \(message)")
            #expect(isLogged, "no message begins with: \(message)")
        }
    }

    @Test func `the queries for locks find the session that holds one`() async throws {
        let document = try String(contentsOf: Repository.root.appending(path: "docs/operating.md"), encoding: .utf8)
        let queries = document.matches(of: /SELECT pid,[^;"]*pg_blocking_pids[^;"]*/).map { String($0.0) }
        #expect(queries.count == 2)
        let (holder, reader) = (try DatabaseSession(), try DatabaseSession())
        let pid = try holder.query("SELECT pg_backend_pid()").only.decode(Int.self)
        try holder.run("BEGIN; LOCK TABLE drafts")
        let conninfo = FreshDatabase.current.conninfo
        let waiting = Task { try await onThread { try DatabaseSession(to: conninfo).run("SELECT 1 FROM drafts") } }
        let isBlocked: SQL = "SELECT 1 FROM pg_stat_activity WHERE \(pid) = ANY (pg_blocking_pids(pid))"
        while try reader.query(isBlocked).isEmpty {}
        for query in queries {
            let select: SQL = "SELECT pid FROM (\(SQL(stringLiteral: query))) AS found"
            let found = try reader.query(select).map { try $0.decode(Int.self) }
            #expect(found.contains(pid))
        }
        try holder.run("COMMIT")
        try await waiting.value
    }

    @Test func `every command prints the output that the document shows`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "email")
            let wrong = try await service.readCode(for: "kim@example.com") == "000000" ? "000001" : "000000"
            _ = try? await service.submit(["code": .string(wrong)], to: "code", of: kim)
            try DatabaseSession().letPass("61 seconds")
            _ = try await service.signups.resend(
                service.signups.flow.step(named: "code")!,
                of: service.signups.reread(kim)
            )
            // Then the next attempt is not due while this test runs.
            try DatabaseSession().run("UPDATE outbox SET attempts = 3 WHERE state = 'waiting'")
            try await service.deliverNext(to: .refuse("451 4.7.1 <ADDRESS>: Greylisted, please come back later"))
            _ = try await service.readyDraft(email: "lee@example.com", username: "lee")
            _ = try await service.signups.commit(service.readyDraft(email: "park@example.com", username: "park"))
            try await service.deliver()
            try await service.signups.funnel.flush(to: service.database)

            let mail = try DatabaseSession().query("SELECT id FROM outbox WHERE state = 'waiting'").only.decode(
                UUID.self
            )
            let role = try DatabaseSession().query("SELECT session_user::text").only.decode(String.self)
            let host = try #require(Machine.name)
            let names = ["KIM": "\(kim.id)", "MAIL": mail.uuidString.lowercased()]

            let transcripts = try Self.transcripts()
            #expect(transcripts.count >= 24)
            for transcript in transcripts {
                let run = try await CommandRun.of(
                    transcript.arguments.map { names[$0] ?? $0 },
                    settings: ["DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys]
                )
                let name = transcript.arguments.joined(separator: " ")
                #expect(run.status == 0, "\(name): \(run.errorOutput)")
                let output = run.output.replacing(" \(role) ", with: " accounts ")
                    .replacing(" \(host) ", with: " ops-1 ")
                #expect(Self.comparable(output) == Self.comparable(transcript.output), "\(name):\n\(run.output)")
            }
        }
    }

    /// The members of a JSON object in the order in which the document lists them.
    private static func documented() throws -> [String: [String]] {
        let text = try String(contentsOf: Repository.root.appending(path: "docs/operating.md"), encoding: .utf8)
        var members: [String: [String]] = [:]
        for row in text.matches(of: /(?m)^\| (`[^|]*`) \| (?:a list of )?`\{([^|]*)\}`/) {
            let names = row.2.replacing(/: \[?\{[^{}]*(\{[^{}]*\}[^{}]*)?\}\]?/, with: "").split(separator: ", ").map(
                String.init
            )
            for command in row.1.matches(of: /`([^`]+)`/) { members[String(command.1)] = names }
        }
        return members
    }

    @Test func `the JSON output has the members that the document lists`() async throws {
        let documented = try Self.documented()
        #expect(documented.count == 42)
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "email")
            let account = try await service.signups.commit(
                service.readyDraft(email: "lee@example.com", username: "lee")
            )
            .account
            try await service.signups.funnel.flush(to: service.database)
            let mail = try DatabaseSession().query("SELECT id FROM outbox WHERE state = 'waiting' LIMIT 1").only
                .decode(UUID.self)
            try DatabaseSession().run(
                """
                INSERT INTO applications (id, events, has_webhook, backchannel_logout)
                VALUES ('shop', ARRAY['account.created'], true, false);
                SELECT write_event(id, 'account.created') FROM accounts
                """
            )
            // The order is always the same, because some commands change the output of others.
            for (command, members) in documented.sorted(by: { $0.key < $1.key }) {
                var arguments = command.split(separator: " ").map(String.init) + ["--json"]
                switch command {
                case "migrate": arguments.append("--status")
                case "keys signing revoke": arguments.append("--yes")
                case "keys signing rotate":
                    let keys = try KeyRing(TestSignups.keys)
                    _ = try await SigningKeys(database: service.database, keys: keys).published
                    arguments += ["--yes", "--force"]
                case "drafts show", "drafts why", "drafts extend": arguments.append("\(kim.id)")
                case "drafts expire": arguments += ["\(try await service.start().id)"]
                case "drafts purge": arguments += ["--email", "nobody@example.com", "--yes"]
                case "accounts show", "accounts why", "accounts export", "accounts disable", "accounts enable",
                    "sessions end":
                    arguments.append("\(account.id)")
                case "sessions list":
                    try DatabaseSession().query(
                        """
                        INSERT INTO sessions
                               (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, sealed)
                        VALUES (gen_random_uuid(), \(account.id), '', 1, 'pwd', false, '1 day', now() + interval '1 day', '')
                        """
                    )
                    arguments.append("\(account.id)")
                case "accounts remove-authenticator": arguments += ["\(account.id)", "--yes"]
                case "accounts erase":
                    // The test inserts this account, because the code of a sign-up would be delivered together with
                    // the mail above.
                    let other = try DatabaseSession().query(
                        """
                        INSERT INTO accounts (id, profile, locale, flow)
                        VALUES (gen_random_uuid(), '{}', 'en', 'default@1') RETURNING id::text
                        """
                    )
                    arguments += [try other.only.decode(String.self), "--yes"]
                case "outbox show", "outbox retry": arguments.append(mail.uuidString)
                case "argon2 calibrate": arguments += ["--target", "1ms"]
                case "keys pseudonym": arguments.append("192.0.2.1")
                case "events retry": arguments.append("shop")
                case "events replay": arguments += ["shop", "--since", "1h"]
                case "applications check": arguments.append("docs/applications.yaml")
                case "applications list": arguments += ["--applications-file", "docs/applications.yaml"]
                case "brand check": arguments.append("examples/brand/brand.yaml")
                case "texts check": arguments.append("examples/texts/ja.yaml")
                case "flow diff":
                    arguments += Array(repeating: "Sources/Accounts/Flow/signup.yaml", count: 2) + ["--database"]
                case "flow check": arguments.append("Sources/Accounts/Flow/signup.yaml")
                default: break
                }
                let run = try await CommandRun.byMina(arguments)
                #expect(run.status == 0, "\(arguments): \(run.errorOutput)")
                var json = try JSON.read(Array(run.output.utf8))
                if case .array(let items) = json { json = try #require(items.first) }
                guard case .object(let printed) = json else {
                    Issue.record("\(command): \(run.output) \(run.errorOutput)")
                    continue
                }
                #expect(printed.map(\.name) == members, "\(command)")
            }
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `the program generates a completion script for each shell`(shell: String) async throws {
        let run = try await CommandRun.of("--generate-completion-script", shell)
        #expect(run.status == 0 && run.output.contains("drafts") && run.output.contains("older-than"))
    }
}
