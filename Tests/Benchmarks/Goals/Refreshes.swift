internal import Foundation

@testable import Accounts

/// Measures requests of signed-in people alternately with steps: checks of a session, and refreshes of tokens.
enum Refreshes {
    private static let connections = 64
    /// The number of people. Each has one session and one refresh token, which is exchanged a few times in a run.
    private static let people = 4096

    static func measure(into report: inout Report, _ extent: Extent) throws {
        let conninfo = try Population.database("refreshes")
        let database = try Connection(to: conninfo)
        let applications = try ApplicationsFolder(["shop": nil])
        let flow = try Population.flowFile()
        let drafts = try Population.file(of: Population.drafts(1024, on: database))
        defer {
            applications.remove()
            for file in [flow, drafts] { try? FileManager.default.removeItem(at: file) }
        }
        let service = try Service(
            [
                "FLOW_FILE": flow.path, "APPLICATIONS_FILE": applications.file, "FORWARD_AUTH_HOSTS": "app.example",
            ],
            on: conninfo
        )
        var loads: [Wrk.Kind: [Load]] = [:]
        for round in 0...extent.rounds {
            let tokens = try signIn(people, on: database)
            defer { for file in [tokens.sessions, tokens.refreshes] { try? FileManager.default.removeItem(at: file) } }
            let files: [Wrk.Kind: URL] = [
                .step: drafts, .session: tokens.sessions, .check: tokens.sessions, .refresh: tokens.refreshes,
            ]
            for kind in Wrk.Kind.allCases {
                let wrk = Wrk(port: service.port, tokens: files[kind]!, kind: kind)
                let load = try wrk.run(connections: connections, for: extent.run)
                // The first round only warms the server up.
                if round > 0 { loads[kind, default: []].append(load) }
            }
        }
        func ratios(_ kind: Wrk.Kind) -> [Double] { zip(loads[kind]!, loads[.step]!).map { $0.rate / $1.rate } }
        report.add(Goal("GET /session a second ÷ steps", atLeast: 2, ratios(.session)))
        report.add(Goal("GET /session/check a second ÷ steps", atLeast: 2, ratios(.check)))
        var table = Table("request", "a second", "p50 ms", "p99 ms", "÷ steps")
        for kind in Wrk.Kind.allCases {
            let load = loads[kind]!.median
            table.append(
                kind.name,
                String(format: "%.0f", load.rate),
                load.p50.text(in: .milliseconds(1)),
                load.p99.text(in: .milliseconds(1)),
                String(format: "%.2f", ratios(kind).median)
            )
        }
        report.add(
            table,
            under:
                "On \(connections) connections, medians of \(extent.rounds) runs of \(extent.run.components.seconds) s"
        )
    }

    /// Inserts accounts that are signed in to the application `shop`. Each run needs new tokens, because a run does not
    /// receive the tokens of its last requests.
    ///
    /// - Returns: files with the tokens of the sessions, and with the refresh tokens.
    private static func signIn(_ count: Int, on database: borrowing Connection) throws -> (
        sessions: URL, refreshes: URL
    ) {
        let keys = try KeyRing(Population.keys)
        var tokens: [(session: Token<AccountSession>, refresh: RefreshToken)] = []
        try database.run("BEGIN")
        for _ in 0..<count {
            let session = Token(for: ID<AccountSession>())
            let (authorization, nonce) = (ID<Authorization>(), RefreshToken.newNonce())
            _ = try database.query(insertion(of: session, authorization, nonce))
            tokens.append((session, RefreshToken(0, of: authorization, nonce: nonce, keys)))
        }
        try database.run("COMMIT")
        try database.run("VACUUM ANALYZE")
        try database.run("CHECKPOINT")
        return (
            try Population.file(of: tokens.map(\.session.text)), try Population.file(of: tokens.map(\.refresh.text))
        )
    }

    /// A statement that inserts an account, its session, and an authorization whose code was used.
    private static func insertion(
        of session: Token<AccountSession>,
        _ authorization: ID<Authorization>,
        _ nonce: [UInt8]
    ) -> SQL {
        """
        WITH account AS (
            INSERT INTO accounts (id, email, profile, locale, flow)
            SELECT id, id::text || '@example.com', '{}', 'en', 'benchmark@1'
              FROM (SELECT gen_random_uuid() AS id) AS new RETURNING id
        ), session AS (
            INSERT INTO sessions (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, sealed)
            SELECT \(session.id), id, \(session.hash), 1, 'pwd', true, '14 days', now() + interval '30 days', ''
              FROM account RETURNING id, account
        ), held AS (
            INSERT INTO grants (id, session, application, account)
            SELECT gen_random_uuid(), id, 'shop', account FROM session RETURNING id
        )
        INSERT INTO authorizations (id, grant_id, code_digest, code_expires_at, code_use, sealed, scope, nonce)
        SELECT \(authorization), id, '', now(), id, '', 'openid', \(nonce) FROM held
        """
    }
}

extension Wrk.Kind {
    fileprivate var name: String {
        switch self {
        case .step: "a step"
        case .session: "GET /session"
        case .check: "GET /session/check"
        case .refresh: "POST /oauth/token, a refresh"
        }
    }
}
