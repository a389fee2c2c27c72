import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The funnel command", .freshDatabase, .timeLimit(.minutes(30)))
struct FunnelCommandTests: OperatorCommandSuite {
    let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `drafts funnel counts how many people entered and completed each step, and the refusals`() async throws {
        let empty = try await command("drafts", "funnel")
        #expect(empty.status == 0 && empty.output == "no sign-ups in the last 7 days\n")
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft())
            let lee = try await service.fill(service.start(), through: "email", email: "lee@example.com")
            for code in ["x", "y"] { _ = try? await service.submit(["code": .string(code)], to: "code", of: lee) }
            try await service.signups.cancel(lee)
            try await service.signups.funnel.flush(to: service.database)
            try session.run(
                """
                -- As if nobody had waited, however busy the machine is.
                WITH counted AS (DELETE FROM funnel_daily RETURNING *)
                INSERT INTO funnel_daily (day, flow, step, outcome, code, seconds, count)
                SELECT day, flow, step, outcome, code, 0, sum(count) FROM counted GROUP BY 1, 2, 3, 4, 5;
                INSERT INTO funnel_daily (day, flow, step, outcome, count)
                VALUES (now(), 'old@7', 'email', 'entered', 5), (now(), 'old@7', 'user', 'entered', 4),
                       (now(), 'old@7', 'age', 'entered', 3);
                INSERT INTO funnel_daily (day, flow, step, outcome, count)
                VALUES (now() - interval '9 days', 'default@1', 'email', 'entered', 1000)
                """
            )
            let lines = try await command("drafts", "funnel").output.split(separator: "\n").map {
                $0.split(separator: " ").joined(separator: " ")
            }
            #expect(
                lines == [
                    "default@1, last 7 days",
                    "STEP ENTERED CONTINUED RATE SHARE OF STARTS MEDIAN ABANDONED SUPERSEDED REMOVED REFUSALS",
                    "email 2 2 100 % ████████████████████ 0 s", "code 2 1 50 % ██████████ 0 s 1 bad_format 2",
                    "password 1 1 100 % ██████████ 0 s", "profile 1 1 100 % ██████████ 0 s",
                    "contact 1 1 100 % ██████████ 0 s", "totp 1 1 100 % ██████████", "terms 1 1 100 % ██████████ 0 s",
                    "review 1 1 100 % ██████████ 0 s", "sign-in 1 0 0 %", "old@7, last 7 days",
                    "STEP ENTERED CONTINUED RATE SHARE OF STARTS MEDIAN ABANDONED SUPERSEDED REMOVED "
                        + "REFUSALS",
                    "email 5 0 0 %", "user 4 0 0 %", "age 3 0 0 %",
                ]
            )
            let month = try await command("drafts", "funnel", "--since", "30d", "--json")
            let json = try JSON.read(Array(month.output.utf8))
            guard case .array(let flows) = json, case .array(let steps)? = flows.first?["steps"] else {
                Issue.record("no list: \(month.output)")
                return
            }
            #expect(steps[0]["entered"] == 1002 && steps[1]["refused"]?["bad_format"] == 2)
            #expect(steps[1]["cancelled"] == 1 && steps[5]["skipped"] == 1)
        }
    }

    @Test(arguments: [("1d", "last 1 day"), ("36h", "last 36h"), ("9600h", "last 400 days")])
    func `drafts funnel names its period`(since: String, period: String) async throws {
        #expect(try await command("drafts", "funnel", "--since", since).output == "no sign-ups in the \(period)\n")
    }

    @Test(arguments: ["401d", "4000d"])
    func `a period for which no counts are kept is a usage error`(since: String) async throws {
        let run = try await command("drafts", "funnel", "--since", since)
        let message = "invalid --since \(since): the counts are kept for 400 days, pass at most 400d"
        #expect(run.status == 2 && run.errorOutput.contains(message), "\(run.errorOutput)")
    }

    @Test(
        arguments: [
            // A flow that the command does not know: the steps that more people have entered come first.
            ("names@7", ["review": 1, "password": 2, "name": 3], ["name", "password", "review"]),
            // Another version of the flow of the command.
            ("default@9", ["profile": 3, "age": 2, "code": 1, "review": 4], ["code", "profile", "age", "review"]),
            // Most accounts have no second factor, so fewer people enter that step than the one after it.
            (
                "recovery/default@1", ["password": 3, "second-factor": 1, "code": 4, "email": 5],
                ["email", "code", "second-factor", "password"]
            ),
            ("email-change/default@1", ["code": 2, "email": 2], ["email", "code"]),
        ] as [(String, [String: Int], [String])]
    )
    func `the steps of each flow are in its own order`(flow: String, entered: [String: Int], steps: [String])
        async throws
    {
        for (step, count) in entered {
            try session.run(
                """
                INSERT INTO funnel_daily (day, flow, step, outcome, count)
                VALUES (now(), '\(flow)', '\(step)', 'entered', \(count))
                """
            )
        }
        let lines = try await command("drafts", "funnel").output.split(separator: "\n")
        #expect(lines.dropFirst(2).map { String($0.prefix { $0 != " " }) } == steps, "\(lines)")
    }

    @Test func `imported accounts have no share of starts`() async throws {
        try session.run(
            """
            INSERT INTO funnel_daily (day, flow, step, outcome, count)
            VALUES (now(), 'import', 'sign-in', 'completed', 3)
            """
        )
        let lines = try await command("drafts", "funnel").output.split(separator: "\n")
        #expect(lines.count == 3 && lines[0] == "import, last 7 days" && lines[2].hasPrefix("sign-in  "))
        #expect(!lines[2].contains("█"), "\(lines[2])")
    }

    @Test func `a sign-up that another one for the same address has ended is in a column`() async throws {
        try await TestSignups.with { service in
            _ = try await service.readyDraft(username: "lee")
            _ = try await service.signups.commit(service.readyDraft())
            try await service.signups.funnel.flush(to: service.database)
            let lines = try await command("drafts", "funnel").output.split(separator: "\n")
            let column = try #require(lines[1].range(of: "SUPERSEDED")?.lowerBound)
            let start = lines[1].distance(from: lines[1].startIndex, to: column)
            let review = try #require(lines.first { $0.hasPrefix("review ") })
            #expect(review.dropFirst(start).first == "1", "\(review)")
        }
    }

    @Test(
        arguments: [
            (0, ""), (1, "████████████████████"), (0.5, "██████████"), (0.01875, "▍"), (7, "████████████████████"),
        ] as [(Double, String)]
    )
    func `a bar is drawn in eighths of a character`(part: Double, bar: String) {
        #expect(FunnelReport.bar(part) == bar)
        #expect(FunnelReport.bar(part, of: 8).count <= 8 && FunnelReport.bar(part, of: 8).isEmpty == bar.isEmpty)
    }
}
