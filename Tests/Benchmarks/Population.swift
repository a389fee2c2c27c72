internal import Foundation

@testable import Accounts

/// Inserts drafts directly into the database, where no rate limit applies.
enum Population {
    /// The flow of the benchmarks: a step with a name and an introduction, then a step with a password.
    static let flow = """
        flow: benchmark
        version: 1
        limits: {revisions: 1000000, password_hashes: 2000/1s, password_hashes_from_network: 2000/1s}
        steps:
          - name: profile
            title: {en: Profile}
            fields:
              - {name: name, kind: text, max: 80, label: {en: Name}}
              - {name: introduction, kind: text, max: 400, label: {en: Introduction}}
          - name: password
            title: {en: Password}
            fields:
              - {name: password, kind: password, label: {en: Password}}

        """
    static let keys = "bench:v2:" + Data(repeating: 7, count: 32).base64EncodedString()

    /// Inserts drafts that clients can continue, with random creation times in the last `hours`.
    ///
    /// - Returns: their tokens.
    static func drafts(_ count: Int, within hours: Double = 0, on database: borrowing Connection) throws -> [Token<
        Draft
    >] {
        let keys = try KeyRing(Self.keys)
        let now = Date()
        return try (0..<count).map { _ in
            let id = ID<Draft>(at: now - .random(in: 0...hours * 3600))
            let token = Token(for: id)
            let sealed = keys.seal(Values().sealable, for: .draft(id, tokenHash: token.hash, revision: 1))
            _ = try database.query(
                """
                INSERT INTO drafts (id, token_hash, ends_at, locale, flow, step, sealed)
                VALUES (\(id), \(token.hash), now() + interval '7 days', 'en', 'benchmark@1', 'profile',
                        \(sealed))
                """
            )
            return token
        }
    }

    /// An SQL expression for a UUIDv7 with the time `begun`, which is different for each `number`.
    static let id = """
        (left(draft_id_floor(begun)::text, 14) || '7' || substr(md5(number::text), 1, 3) || '-8'
         || substr(md5(number::text), 4, 3) || '-' || substr(md5(number::text), 7, 12))::uuid
        """

    /// Inserts drafts that no client continues. They are as large as those of an unfinished sign-up, and their creation
    /// times are spread over the last `hours`.
    static func insertOtherDrafts(
        _ count: Int,
        within hours: Double,
        of flow: String = "benchmark@1",
        at step: String = "profile",
        on database: borrowing Connection
    ) throws {
        try database.run(
            """
            INSERT INTO drafts (id, token_hash, created_at, ends_at, updated_at, locale, flow, step, sealed)
            SELECT \(id),
                   sha256(number::text::bytea), begun, begun + interval '7 days', now(), 'en', '\(flow)', '\(step)',
                   decode(repeat(md5(number::text), 24), 'hex')
              FROM generate_series(1, \(count)) AS number,
                   LATERAL (SELECT now() - number * interval '\(hours) hours' / \(count) AS begun) AS time
            """
        )
        try database.run("VACUUM ANALYZE drafts")
        try database.run("CHECKPOINT")
    }

    /// Writes a file with a token on each line.
    static func file(of tokens: [Token<Draft>]) throws -> URL { try file(of: tokens.map(\.text)) }

    static func file(of tokens: [String]) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID())")
        try Data(tokens.map { $0 + "\n" }.joined().utf8).write(to: file)
        return file
    }

    static func flowFile() throws -> URL {
        let file = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(UUID()).yaml")
        try Data(flow.utf8).write(to: file)
        return file
    }

    /// Creates a database with the current schema in the cluster of `DATABASE_URL`, and returns its connection string.
    /// Deletes an existing database of this name.
    static func database(_ name: String) throws -> String {
        let conninfo = try Service.conninfo
        guard conninfo.hasSuffix("dbname=accounts") else {
            throw Service.Failure(description: "DATABASE_URL must be a database of scripts/postgres")
        }
        let database = try Connection(to: conninfo)
        try database.run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
        try database.run("CREATE DATABASE \(name)")
        let other = conninfo.replacing("dbname=accounts", with: "dbname=\(name)")
        _ = try Migrations().apply(to: other)
        return other
    }
}
