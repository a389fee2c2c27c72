import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The commands for signing keys", .freshDatabase, .timeLimit(.minutes(30)))
struct SigningKeyCommandTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    private func makeKeys() async throws {
        let ring = try KeyRing(TestSignups.keys)
        _ = try await withDatabase { try await SigningKeys(database: $0, keys: ring).published }
    }

    @Test func `the keys are listed with their states`() async throws {
        let none = try await CommandRun.byMina("keys", "signing", "list")
        #expect(none.output == "no signing keys: a server makes them when it needs them\n")
        try await makeKeys()
        let list = try await CommandRun.byMina("keys", "signing", "list")
        let lines = list.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(
            lines.map { $0[1...3].joined(separator: " ") } == [
                "ALGORITHM STATE PUBLISHED", "ES256 next yes", "RS256 next yes", "ES256 live yes", "RS256 live yes",
            ]
        )
        let json = try await CommandRun.byMina("keys", "signing", "list", "--json").json
        #expect(json["keys"]?.texts(of: "state") == ["next", "next", "live", "live"])
        #expect(json["keys"]?.texts(of: "kid") == lines.dropFirst().map { $0[0] })
        #expect(try session.number(of: "audit") == 0)
    }

    @Test func `a rotation asks first, refuses keys that clients may not know yet, and prints the live keys`()
        async throws
    {
        try await makeKeys()
        #expect(try await CommandRun.byMina("keys", "signing", "rotate").status == 2, "the command asks first")
        let early = try await CommandRun.byMina("keys", "signing", "rotate", "--yes")
        #expect(early.status == 1 && early.errorOutput.contains("run this again in 1"))
        #expect(try session.number(of: "audit") == 0)
        try session.run("UPDATE signing_keys SET created_at = now() - interval '1 hour'")
        let next = try await CommandRun.byMina("keys", "signing", "list", "--json").json["keys"]?.texts(of: "kid")
        let run = try await CommandRun.byMina("keys", "signing", "rotate", "--yes", "--json")
        let live = try run.json["live"]
        #expect(run.status == 0 && live == .array(next?.prefix(2).compactMap { $0.map(JSON.string) } ?? []))
        let forced = try await CommandRun.byMina("keys", "signing", "rotate", "--yes", "--force")
        #expect(forced.status == 0 && forced.output.split(separator: "\n").count == 2)
        #expect(try session.number(of: "audit WHERE act = 'rotate signing keys' AND operator = 'mina'") == 2)
    }

    @Test func `a revocation asks first, replaces all keys, and prints the live ones`() async throws {
        try await makeKeys()
        let before = try await CommandRun.byMina("keys", "signing", "list", "--json").json["keys"]?.texts(of: "kid")
        #expect(try await CommandRun.byMina("keys", "signing", "revoke").status == 2, "the command asks first")
        let run = try await CommandRun.byMina("keys", "signing", "revoke", "--yes")
        let after = try await CommandRun.byMina("keys", "signing", "list", "--json").json["keys"]?.texts(of: "kid")
        #expect(run.status == 0 && run.output.split(separator: "\n").count == 2)
        #expect(after?.count == 4 && Set(after ?? []).isDisjoint(with: before ?? []))
        #expect(try session.number(of: "audit WHERE act = 'revoke signing keys' AND operator = 'mina'") == 1)
    }

    @Test func `without keys there is nothing to rotate`() async throws {
        let run = try await CommandRun.byMina("keys", "signing", "rotate", "--yes", "--force")
        #expect(run.status == 1 && run.errorOutput.contains("there are no signing keys"))
    }
}
