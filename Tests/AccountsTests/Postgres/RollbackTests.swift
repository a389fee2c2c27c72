import Foundation
import TestSupport
import Testing

@testable import Accounts
@testable import Schema

@Suite("Rolling a release out and back", .emptyDatabase, .timeLimit(.minutes(30)))
struct RollbackTests {
    private let conninfo = FreshDatabase.current.conninfo

    private static let older = Migrations(Schema.migrations, functions: Schema.functions, version: 1)

    /// The next release: a compatible migration, and other texts of all functions.
    private static let newer: Migrations = {
        let script = "ALTER TABLE outbox ADD COLUMN note text; CREATE TABLE notes (number int)"
        let migration = Schema.Script("9999-next", Array(script.utf8), isCompatible: true)
        let functions = Schema.functions.map { Schema.Script($0.name, Array("-- The next text.\n".utf8) + $0.bytes) }
        return Migrations(Schema.migrations + [migration], functions: functions, version: 2)
    }()

    /// Applies the migrations of this version, as `serve --migrate` does, and lends a server.
    private func serve(_ version: Migrations, _ body: (TestSignups) async throws -> Void) async throws {
        let conninfo = conninfo
        _ = try await onThread { try version.apply(to: conninfo) }
        try await TestSignups.with { server in
            try await version.check(server.database)
            try await body(server)
        }
    }

    /// Signs up several people at the same time. Throws if one of them fails.
    ///
    /// - Parameter servers: all running servers. Any of them may send the mail with a code.
    private func signUp(_ name: String, at server: TestSignups, among servers: [TestSignups]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { people in
            for number in 1...6 {
                people.addTask { try await Self.signUp("\(name)\(number)", at: server, among: servers) }
            }
            try await people.waitForAll()
        }
    }

    private static func signUp(_ name: String, at server: TestSignups, among servers: [TestSignups]) async throws {
        let address = "\(name)@example.com"
        var answers = TestSignups.answers(email: address, username: name)
        var draft = try await server.start()
        for step in server.signups.flow.steps {
            if step.name == "code" {
                answers["code"] = ["code": .string(try await code(for: address, in: servers))]
            }
            draft = try await server.submit(#require(answers[step.name]), to: step.name, of: draft)
        }
        _ = try await server.signups.commit(draft)
    }

    private static func code(for address: String, in servers: [TestSignups]) async throws -> String {
        while true {
            for server in servers {
                // The first call of a function that returns rows of a table fails after a migration has changed the
                // table.
                try? await server.deliver()
                if let code = try? server.mailbox.code(for: address) { return code }
            }
            await Task.yield()
        }
    }

    @Test func `versions before and after a compatible migration serve together, and no sign-up fails`() async throws {
        let (session, conninfo) = (try DatabaseSession(), conninfo)
        try await serve(Self.older) { first in
            async let applied = onThread { try Self.newer.apply(to: conninfo) }
            try await signUp("early", at: first, among: [first])
            let functions = Schema.functions.map { "functions/\($0.name)" }
            #expect(try await applied.map(\.name) == ["9999-next"] + functions)

            try await serve(Self.newer) { next in
                // A server of the older version restarts while the newer version is being rolled out.
                try await serve(Self.older) { restarted in
                    let servers = [first, next, restarted]
                    async let one: Void = signUp("running", at: first, among: servers)
                    async let two: Void = signUp("newer", at: next, among: servers)
                    async let three: Void = signUp("restarted", at: restarted, among: servers)
                    _ = try await (one, two, three)
                }
                #expect(try await Self.newer.check(next.database) == [], "the newer functions are still there")
            }
        }
        try await serve(Self.older) { server in
            #expect(try await Self.older.check(server.database).first == "9999-next")
            try await signUp("back", at: server, among: [server])
        }
        try await serve(Self.newer) { try await signUp("again", at: $0, among: [$0]) }
        #expect(try session.number(of: "accounts") == 36)
    }
}
