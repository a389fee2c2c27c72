import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

/// A flow file that replaces the one of the servers while people sign up.
@Suite("A change of the flow file", .freshDatabase, .timeLimit(.minutes(30)))
struct FlowChangeTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    private static let file = "Sources/Accounts/Flow/signup.yaml"

    private static func flow(_ changes: [String: String] = [:]) throws -> String {
        var text = try String(contentsOf: Repository.root.appending(path: file), encoding: .utf8)
        for (old, new) in changes { text = text.replacing(old, with: new) }
        return text
    }

    /// Ten sign-ups: the given number was last changed five hours before the others.
    private func begin(idle: Int) async throws {
        try await TestSignups.with { service in
            for number in 1...10 {
                let email = "kim\(number)@example.com"
                _ = try await service.fill(service.start(), through: "email", email: email)
            }
        }
        try session.run(
            """
            UPDATE drafts SET updated_at = updated_at - interval '5 hours'
             WHERE id IN (SELECT id FROM drafts ORDER BY id LIMIT \(idle))
            """
        )
    }

    private func start(_ flow: String, _ arguments: String...) async throws -> ServerProcess {
        try await withFile(flow) { path in
            try await ServerProcess.start(
                database: FreshDatabase.current.conninfo,
                arguments: ["serve"] + arguments,
                settings: ["FLOW_FILE": path]
            )
        }
    }

    @Test func `a server does not start with a flow that ends a tenth of the sign-ups, unless that is accepted`()
        async throws
    {
        try await begin(idle: 2)
        let shorter = try Self.flow(["version: 1\n": "version: 2\ndraft: {idle: 2h}\n"])
        let error = await #expect(throws: ServerProcess.Failure.self) { try await start(shorter) }
        #expect(error?.description.contains("the flow default@2 would end 2 of 10 unfinished sign-ups now") == true)
        #expect(try session.number(of: "drafts") == 10)

        let server = try await start(shorter, "--accept")
        #expect(server.log.contains("the flow ends sign-ups"))
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test func `a server that ends fewer sign-ups starts and logs their number`() async throws {
        try await begin(idle: 1)
        let server = try await start(try Self.flow(["version: 1\n": "version: 2\ndraft: {idle: 2h}\n"]))
        #expect(server.log.contains(#""drafts":10,"ended":1,"flow":"default@2""#))
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test func `a server starts after an outage in which all sign-ups have expired`() async throws {
        try await begin(idle: 5)
        try session.letPass("2 days")
        let server = try await start(try Self.flow())
        #expect(!server.log.contains("the flow ends sign-ups"))
        #expect(await server.end(by: SIGTERM) == 0)
    }

    /// The ids of these drafts, newest first.
    private func ids(_ condition: String) throws -> [String] {
        try session.query(SQL(stringLiteral: "SELECT id::text FROM drafts WHERE \(condition) ORDER BY id DESC")).map {
            try $0.decode(String.self)
        }
    }

    @Test func `flow diff --ids names the sign-ups of each effect`() async throws {
        try await begin(idle: 3)
        let lee = try await TestSignups.with { service in
            try await service.fill(service.start(), through: "contact", email: "lee@example.com", username: "lee").id
        }
        let ended = try ids("updated_at < now() - interval '2 hours'")
        let changed = try Self.flow([
            "version: 1\n": "version: 2\ndraft: {idle: 2h}\n", "min_age: 14": "min_age: 40",
        ])
        try await withFile(changed) { path in
            let diff = ["flow", "diff", Self.file, path, "--database", "--ids"]
            let run = try await CommandRun.byMina(diff)
            #expect(
                run.output.hasSuffix(
                    """

                    11 unfinished sign-ups, of which 3 end at once
                      \(ended[0])
                      \(ended[1])
                      \(ended[2])
                    the answer to birth_date no longer holds in 1 of 8
                      \(lee)
                    1 of 8 go back to the step contact
                      \(lee)

                    """
                ),
                "\(run.output)"
            )
            let json = try await CommandRun.byMina(diff + ["--json"]).json
            let named: JSON = [
                "ended": .array(ended.map(JSON.string)), "refused": ["birth_date": [.string("\(lee)")]],
                "reopened": ["contact": [.string("\(lee)")]],
            ]
            #expect(json["signups"]?["ids"] == named && json["signups"]?["ended"] == 3)
        }
        let alone = try await CommandRun.byMina("flow", "diff", Self.file, Self.file, "--ids")
        #expect(alone.status == 2 && alone.errorOutput.contains("--ids needs --database"))
    }

    @Test func `flow diff names at most a hundred sign-ups of an effect, and tells how many others there are`()
        async throws
    {
        try await begin(idle: 10)
        try session.run(
            """
            INSERT INTO drafts (id, token_hash, created_at, ends_at, updated_at, locale, flow, step, sealed)
            SELECT gen_random_uuid(), sha256(number::text::bytea), created_at, ends_at, updated_at, locale, flow, step,
                   sealed
              FROM generate_series(1, 95) AS number, (SELECT * FROM drafts LIMIT 1) AS one
            """
        )
        let shorter = try Self.flow(["version: 1\n": "version: 2\ndraft: {idle: 2h}\n"])
        try await withFile(shorter) { path in
            let diff = ["flow", "diff", Self.file, path, "--database", "--ids"]
            let lines = try await CommandRun.byMina(diff).output.split(separator: "\n")
            #expect(lines.suffix(102).first == "105 unfinished sign-ups, of which 105 end at once")
            #expect(lines.last == "  … and 5 others")
            let json = try await CommandRun.byMina(diff + ["--json"]).json
            guard case .array(let ids)? = json["signups"]?["ids"]?["ended"] else { throw Missing() }
            #expect(ids.count == 100 && json["signups"]?["ended"] == 105)
        }
    }

    @Test func `flow diff counts the sign-ups that end, and those that go back to a step`() async throws {
        try await begin(idle: 3)
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "contact", email: "lee@example.com", username: "lee")
        }
        let changed = try Self.flow([
            "version: 1\n": "version: 2\ndraft: {idle: 2h}\n", "min_age: 14": "min_age: 40",
        ])
        try await withFile(changed) { path in
            let run = try await CommandRun.byMina("flow", "diff", Self.file, path, "--database")
            #expect(run.status == 0 && run.errorOutput.isEmpty, "\(run.errorOutput)")
            #expect(run.output.contains("~ draft.idle: 1d → 2h\n"))
            #expect(
                run.output.hasSuffix(
                    """

                    11 unfinished sign-ups, of which 3 end at once
                    the answer to birth_date no longer holds in 1 of 8
                    1 of 8 go back to the step contact

                    """
                )
            )
            let json = try await CommandRun.byMina("flow", "diff", Self.file, path, "--database", "--json").json
            #expect(json["signups"]?["ended"] == 3 && json["signups"]?["refused"] == ["birth_date": 1])
            #expect(json["signups"]?["ids"] == .null)
        }
        #expect(try session.number(of: "drafts") == 11)
    }
}
