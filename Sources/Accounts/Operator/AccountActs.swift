package import Foundation

extension Operator {
    /// Disables an account, so that its person cannot sign in. Ends its sessions and its unfinished sign-ins. Its
    /// recoveries and changes of address that have begun cannot be committed any more.
    ///
    /// - Returns: whether the account was enabled before; nil if it does not exist.
    package func disable(_ id: ID<Account>) async throws(DatabaseError) -> Bool? {
        try await set(
            "now()",
            of: id,
            .disableAccount,
            and: ["DELETE FROM sessions WHERE account = \(id)", "DELETE FROM sign_ins WHERE account = \(id)"]
        )
    }

    /// Enables a disabled account again, so that its person can sign in.
    ///
    /// - Returns: whether the account was disabled before; nil if it does not exist.
    package func enable(_ id: ID<Account>) async throws(DatabaseError) -> Bool? {
        try await set("NULL", of: id, .enableAccount)
    }

    private func set(
        _ disabledAt: SQL,
        of id: ID<Account>,
        _ act: Act,
        and others: [SQL] = []
    ) async throws(DatabaseError) -> Bool? {
        let rows = try await database.transaction(
            [
                "SELECT 1 FROM accounts WHERE id = \(id) FOR UPDATE",
                """
                WITH changed AS (
                    UPDATE accounts SET disabled_at = \(disabledAt), credentials_version = credentials_version + 1
                     WHERE id = \(id) AND (disabled_at IS NULL) <> (\(disabledAt)::timestamptz IS NULL) RETURNING id
                ), \(audited(act, over: "changed", of: "id"))
                SELECT 1 FROM changed
                """,
            ] + others
        )
        return rows[0].isEmpty ? nil : !rows[1].isEmpty
    }

    /// Erases an account with the rows of ``belongings(of:)``, and writes an audit record. If this command has keys,
    /// also deletes each ``Ticket`` that was mailed to the address of the account. Returns false if the account does
    /// not exist. The funnel counts an account whose person has never signed in as removed at the step
    /// ``Funnel/signIn``.
    package func erase(_ id: ID<Account>) async throws(DatabaseError) -> Bool {
        let email: String? =
            try await database.read("SELECT email FROM accounts WHERE id = \(id)").first?.decode(String?.self) ?? nil
        let address = signups.keys.isEmpty ? nil : email.flatMap { EmailAddress($0) }
        let erase: SQL = """
            WITH unused AS MATERIALIZED (
                SELECT flow, \(Funnel.signIn) AS step FROM accounts WHERE id = \(id) AND signed_in_at IS NULL
            ), erased AS (
                SELECT \(Funnel.ended(in: "unused")) AS steps FROM erase_account(\(id)) AS existed WHERE existed
            ), \(audited(.eraseAccount, over: "erased", of: "\(id)"))
            SELECT steps FROM erased WHERE \(Signups.setFlag("changed", "true")) = 'true'
            """
        let eraseTickets = address.map { [signups.eraseTickets(of: $0, when: Signups.flag("changed"))] } ?? []
        let row = try await database.transaction([erase] + eraseTickets)[0].first
        guard let row else { return false }
        try signups.funnel.ended(row.decode(String.self), as: .removed)
        return true
    }

    /// Ends all sessions and unfinished sign-ins of an account, or only the given session. Writes an audit record if a
    /// session or a sign-in has ended. Returns the number of ended sessions; nil if the account does not exist.
    package func endSessions(
        of account: ID<Account>,
        only session: ID<AccountSession>? = nil
    ) async throws(DatabaseError) -> Int? {
        let condition: SQL = session.map { "account = \(account) AND id = \($0)" } ?? "account = \(account)"
        let rows = try await database.transaction(
            "SELECT 1 FROM accounts WHERE id = \(account)",
            """
            WITH ended AS (DELETE FROM sessions WHERE \(condition) RETURNING id),
                 unfinished AS (DELETE FROM sign_ins WHERE account = \(account) AND \(session == nil) RETURNING id),
                 either AS (SELECT id FROM ended UNION ALL SELECT id FROM unfinished LIMIT 1),
                 \(audited(.endSessions, over: "either", of: "\(account)"))
            SELECT count(*) FROM ended
            """
        )
        if rows[0].isEmpty { return nil }
        return try rows[1].only.decode(Int.self)
    }

    /// Ends the sessions and the unfinished sign-ins of all accounts, and writes an audit record. Returns the number of
    /// ended sessions.
    ///
    /// Each transaction ends at most 5000 sessions, so that no transaction takes long. Sessions that start meanwhile do
    /// not end.
    package func endAllSessions() async throws(DatabaseError) -> Int {
        let start = try await database.transaction(
            "INSERT INTO audit (operator, host, reason, act) VALUES (\(author), \(Act.endSessions.rawValue))",
            "DELETE FROM sign_ins",
            "SELECT now()::text"
        )[2].only.decode(String.self)
        var total = 0
        while true {
            let rows = try await database.transaction(
                """
                WITH ended AS (
                    DELETE FROM sessions WHERE id IN (
                        SELECT id FROM sessions WHERE created_at <= \(start)::timestamptz LIMIT 5000)
                    RETURNING 1
                )
                SELECT count(*) FROM ended
                """,
                // Shows whether sessions are left. A batch can be empty although some are left, because another
                // transaction may have deleted the same rows.
                "SELECT EXISTS (SELECT FROM sessions WHERE created_at <= \(start)::timestamptz)"
            )
            total += try rows[0].only.decode(Int.self)
            if try !rows[1].only.decode(Bool.self) { return total }
        }
    }

    /// Returns the sessions of an account, the most recently used one first, and the time of this computer. Returns nil
    /// if the account does not exist.
    package func sessions(of account: ID<Account>) async throws(DatabaseError) -> (
        sessions: [ListedSession], now: Date
    )? {
        let rows = try await database.transaction(
            "SELECT 1 FROM accounts WHERE id = \(account)",
            ListedSession.query(of: account)
        )
        if rows[0].isEmpty { return nil }
        return (sessions: try ListedSession.all(in: rows[1], signups.keys), now: Date())
    }

    /// Returns all data of an account except secrets such as password hashes; nil if the account does not exist. Writes
    /// an audit record in the same transaction.
    ///
    /// - Parameter withImages: whether the result contains the images of the photos, too.
    package func export(_ id: ID<Account>, withImages: Bool) async throws(DatabaseError) -> AccountExport? {
        try await signups.export(
            id,
            hasPassword: Self.hasPassword(id),
            withImages: withImages,
            after: ["WITH \(audited(.exportAccount, over: "accounts WHERE id = \(id)", of: "id")) SELECT 1"]
        )
    }

    /// An SQL expression: whether the account has a password. It does not read the hash, because operators have no
    /// privilege to read hashes.
    static func hasPassword(_ account: ID<Account>) -> SQL {
        "EXISTS (SELECT FROM credentials WHERE account = \(account) AND kind = 'password')"
    }
}
