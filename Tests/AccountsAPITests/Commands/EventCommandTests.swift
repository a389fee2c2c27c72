import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The commands for events", .freshDatabase, .timeLimit(.minutes(30)))
struct EventCommandTests: OperatorCommandSuite {
    let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
        try session.run(
            """
            INSERT INTO applications (id, events, has_webhook, backchannel_logout)
            VALUES ('shop', ARRAY['account.updated'], true, false), ('blog', ARRAY['account.erased'], false, false)
            """
        )
    }

    /// Writes events, each of another account, and returns their ids, oldest first.
    private func cause(_ count: Int, _ type: String = "account.updated") throws -> [String] {
        for _ in 1...count { try session.query("SELECT write_event(gen_random_uuid(), \(type))") }
        return try session.query("SELECT id::text FROM events ORDER BY xid DESC LIMIT \(count)").map {
            try $0.decode(String.self)
        }.reversed()
    }

    /// Writes an event that is not yet delivered to the application `shop`, and returns its id. The ids differ in one
    /// digit.
    private func addEvent(_ number: Int) throws -> String {
        let id = "01a1fdb2-1117-7906-a197-0\(number)af84022e4d"
        try session.run(
            """
            INSERT INTO events (id, account, sequence, type)
            VALUES ('\(id)', gen_random_uuid(), 1, 'account.updated');
            INSERT INTO deliveries (event, application, account, sequence)
            SELECT id, 'shop', account, sequence FROM events WHERE id = '\(id)'
            """
        )
        return id
    }

    private func words(_ run: CommandRun) -> [String] {
        run.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    }

    // MARK: - list

    @Test func `events are listed, newest first, with the applications that have not received them`() async throws {
        #expect(try await CommandRun.byMina("events", "list").output == "no events\n")
        let (delivered, failed, waiting) = (try addEvent(1), try addEvent(2), try addEvent(3))
        try session.run(
            """
            UPDATE events SET created_at = now() - interval '80 minutes';
            UPDATE deliveries SET due_at = now() + interval '80 minutes';
            UPDATE deliveries SET state = 'failed', attempts = 10, last_error = 'answered 500' WHERE event = '\(failed)';
            DELETE FROM deliveries WHERE event = '\(delivered)'
            """
        )

        let list = words(try await CommandRun.byMina("events", "list"))
        #expect(list[0] == "ID TYPE ACCOUNT SEQUENCE CREATED APPLICATION STATE ATTEMPTS DUE LAST ERROR")
        #expect(list[1...3].map { $0.split(separator: " ")[0] } == [waiting[...], failed[...], delivered[...]])
        #expect(list[1].hasSuffix("1 1 h ago shop waiting 0 in 1 h"))
        #expect(list[4] == "3 of 3 lines")
        #expect(list[2].hasSuffix("1 1 h ago shop failed 10 answered 500") && list[3].hasSuffix("1 1 h ago delivered"))
        let undelivered = words(try await CommandRun.byMina("events", "list", "--undelivered", "--limit", "1"))
        #expect(undelivered == list.prefix(2) + ["1 of 2 lines; next page: --after \(waiting)/shop"])
        let second = words(
            try await CommandRun.byMina("events", "list", "--limit", "1", "--after", "\(waiting)/shop")
        )
        #expect(second == [list[0], list[2], "1 of 3 lines; next page: --after \(failed)/shop"])
        let last = words(try await CommandRun.byMina("events", "list", "--limit", "1", "--after", "\(failed)/shop"))
        #expect(last == [list[0], list[3], "1 of 3 lines"])

        try session.run("UPDATE events SET created_at = now() - interval '3 hours' WHERE id = '\(delivered)'")
        let recent = try await CommandRun.byMina("events", "list", "--since", "2h", "--json").json
        #expect(recent["events"]?.texts(of: "id") == [waiting, failed] && recent["total"] == 2)
        let failures = try await CommandRun.byMina("events", "list", "--since", "4h", "--undelivered", "--json").json
        #expect(failures["events"]?.texts(of: "id") == [waiting, failed])

        let page = try await CommandRun.byMina("events", "list", "--json").json
        #expect(page["total"] == 3 && page["next"] == .null)
        let json = try #require(page["events"])
        #expect(json.texts(of: "id") == [waiting, failed, delivered])
        #expect(json.texts(of: "state") == ["waiting", "failed", "delivered"])
        #expect(json.texts(of: "application") == ["shop", "shop", nil])
        #expect(json.texts(of: "last_error") == [nil, "answered 500", nil])
        #expect(try audit() == [])
        #expect(try await CommandRun.byMina("events", "list", "--limit", "0").status == 2)
    }

    // MARK: - retry

    @Test func `a retry for an application switches its webhook on, and makes its undelivered events due`() async throws
    {
        _ = try cause(2)
        try session.run(
            """
            UPDATE applications SET state = 'off';
            UPDATE deliveries SET state = 'failed', attempts = 10, due_at = now() + interval '1 hour'
            """
        )
        let run = try await CommandRun.byMina("events", "retry", "shop")
        #expect(run.status == 0 && run.output == "requeued 2 events\n")
        #expect(try session.number(of: "applications WHERE id = 'shop' AND state = 'on'") == 1)
        #expect(try session.number(of: "deliveries WHERE state = 'waiting' AND attempts = 0 AND due_at <= now()") == 2)
        let json = try await CommandRun.byMina("events", "retry", "shop", "--json")
        #expect(json.output == #"{"due":2}"# + "\n")
        #expect(try audit() == ["mina: retry events", "mina: retry events"])
    }

    @Test func `one event is retried by its id or its first digits`() async throws {
        let ids = [try addEvent(1), try addEvent(2), try addEvent(3)]
        try session.run("UPDATE deliveries SET state = 'failed', attempts = 10")
        let run = try await CommandRun.byMina("events", "retry", "shop", ids[1])
        #expect(run.status == 0 && run.output == "requeued 1 event\n")
        #expect(try session.number(of: "deliveries WHERE state = 'waiting' AND attempts = 0") == 1)
        #expect(try session.number(of: "deliveries WHERE event = '\(ids[1])' AND state = 'waiting'") == 1)

        let ambiguous = try await CommandRun.byMina("events", "retry", "shop", "01A1fd")
        #expect(ambiguous.status == 1 && ambiguous.errorOutput.contains("3 events have an id that begins with"))
        let json = try await CommandRun.byMina("events", "retry", "shop", String(ids[2].prefix(26)), "--json")
        #expect(json.status == 0 && json.output == #"{"due":1}"# + "\n")
        #expect(try session.number(of: "deliveries WHERE state = 'failed'") == 1)
        #expect(try audit() == ["mina: retry events \(ids[1])", "mina: retry events \(ids[2])"])
    }

    @Test func `a retry of one event says why it is impossible`() async throws {
        let (id, delivered) = (try addEvent(1), try addEvent(2))
        try session.run("DELETE FROM deliveries WHERE event = '\(delivered)'")
        for (arguments, status, code, message) in [
            (["wiki"], 1, "not-found", "no application wiki with a webhook"),
            (["wiki", id], 1, "not-found", "no application wiki with a webhook"),
            (
                ["shop", delivered], 1, "not-found",
                "shop has no undelivered event \"\(delivered)\": accounts-api events replay delivers events again"
            ),
        ] as [([String], Int32, String, String)] {
            let run = try await CommandRun.byMina(["events", "retry"] + arguments + ["--json"])
            let error = try run.errorJSON["error"]
            #expect(run.status == status && error?["code"]?.string == code && error?["message"]?.string == message)
        }
        #expect(try await CommandRun.byMina("events", "retry", "shop", "01a1").status == 2)
        #expect(try await CommandRun.byMina("events", "retry", "shop", "order-17").status == 2)
        try session.run("UPDATE applications SET state = 'off'")
        let off = try await CommandRun.byMina("events", "retry", "shop", id)
        #expect(off.status == 1 && off.output.isEmpty)
        #expect(off.errorOutput == "the webhook of shop is off: accounts-api events retry shop switches it on\n")
        #expect(try session.number(of: "applications WHERE state = 'off'") == 2)
        #expect(try audit() == [])
    }

    // MARK: - replay

    @Test func `a replay makes delivered events due again`() async throws {
        _ = try cause(2)
        try session.run("DELETE FROM deliveries")
        let run = try await CommandRun.byMina("events", "replay", "shop", "--since", "1h")
        #expect(run.status == 0 && run.output == "requeued 2 events\n")
        #expect(try session.number(of: "deliveries WHERE application = 'shop' AND due_at <= now()") == 2)
        let json = try await CommandRun.byMina("events", "replay", "shop", "--since", "30d", "--json")
        #expect(json.output == #"{"due":2}"# + "\n")
        let sinceLongAgo = try await CommandRun.byMina("events", "replay", "shop", "--since", "99999d")
        #expect(sinceLongAgo.output == "requeued 2 events\n", "99999 days ago is before 1970")
        for application in ["wiki", "blog"] {
            let refused = try await CommandRun.byMina("events", "replay", application, "--since", "1h")
            #expect(refused.status == 1 && refused.errorOutput == "no application \(application) with a webhook\n")
        }
        #expect(try await CommandRun.byMina("events", "replay", "shop").status == 2)
        #expect(try audit() == Array(repeating: "mina: replay events", count: 3))
    }

    // MARK: - tail

    @Test(arguments: [SIGINT, SIGTERM])
    func `tail prints the latest events, then each new one, until a signal`(signal: Int32) async throws {
        let ids = try cause(3)
        try await session.waitUntilEventsAreListed()
        let tail = try RunningCommand(byMina: "events", "tail", "--lines", "2")
        let lines = [try await tail.line(), try await tail.line()]
        #expect(
            lines.allSatisfy { $0.contains(/^20[0-9T:-]+Z  [0-9a-f-]{36}  account.updated   [0-9a-f-]{36}  1$/) }
        )
        #expect(lines[0].contains(ids[1]) && lines[1].contains(ids[2]))
        let next = try cause(1, "account.erased")[0]
        let line = try await tail.line()
        #expect(line.contains("  \(next)  account.erased    "))
        #expect(try await tail.end(by: signal) == 0)
        #expect(try audit() == [])
    }

    @Test func `tail of an application prints the events that it subscribes to, as JSON`() async throws {
        _ = try cause(2)
        let tail = try RunningCommand(byMina: "events", "tail", "blog", "--json")
        let (first, second) = (try cause(1, "account.erased")[0], try cause(1, "account.erased")[0])
        for id in [first, second] {
            let json = try JSON.read(Array(try await tail.line().utf8))
            guard case .object(let members) = json else { throw RunningCommand.Ended() }
            #expect(members.map(\.name) == ["id", "type", "account", "sequence", "created_at"])
            #expect(json["id"]?.string == id && json["type"] == "account.erased" && json["sequence"] == 1)
        }
        #expect(try await tail.end(by: SIGTERM) == 0)
    }

    @Test func `tail ends when its output is closed`() async throws {
        let id = try cause(1)[0]
        let conninfo = FreshDatabase.current.conninfo
        let (status, line) = try await onThread {
            let (shell, output) = (Process(), Pipe())
            shell.executableURL = URL(filePath: "/bin/bash")
            shell.arguments = [
                "-c", #""$0" events tail | head -n 1; exit "${PIPESTATUS[0]}""#, ServerProcess.program.path,
            ]
            shell.environment = [
                "DATABASE_URL": conninfo, "ACCOUNTS_KEYS": TestSignups.keys, "PATH": "/usr/bin:/bin",
            ]
            shell.standardOutput = output
            try shell.run()
            let line = output.fileHandleForReading.readDataToEndOfFile()
            shell.waitUntilExit()
            return (shell.terminationStatus, String(decoding: line, as: UTF8.self))
        }
        #expect(status == 0 && line.contains(id))
    }

    @Test func `tail fails when its output cannot be written`() async throws {
        _ = try cause(1)
        let settings = CommandRun.settingsOfMina
        let (status, text) = try await onThread {
            let (process, errors) = (Process(), Pipe())
            process.executableURL = ServerProcess.program
            process.arguments = ["events", "tail"]
            process.environment = settings
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
            process.standardError = errors
            try process.run()
            let text = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: text, as: UTF8.self))
        }
        #expect(status == 1 && text == "cannot write to standard output: No space left on device\n")
    }

    @Test(arguments: [["tail"], ["retry"], ["replay", "--since", "1h"]])
    func `an unknown application is printed without control characters`(command: [String]) async throws {
        let run = try await CommandRun.byMina(["events"] + command + ["wi\u{1B}ki"])
        #expect(run.status == 1 && run.errorOutput.hasPrefix("no application wi\u{FFFD}ki"))
    }

    @Test func `tail refuses an unknown application`() async throws {
        let run = try await CommandRun.byMina("events", "tail", "wiki")
        #expect(run.status == 1 && run.errorOutput == "no application wiki\n")
        #expect(try await CommandRun.byMina("events", "tail", "--lines", "10001").status == 2)
    }
}
