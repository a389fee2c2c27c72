package import Foundation

/// A session in the list of the sessions of an account.
package struct ListedSession: Sendable {
    package let id: ID<AccountSession>
    package let createdAt: Date
    package let lastSeenAt: Date
    /// The network from which the person signed in; nil if no key of the key ring decrypts this value.
    package let network: String?
    /// The first 200 bytes of the `User-Agent` of the request that started the session; nil if the request had none, or
    /// if no key of the key ring decrypts this value.
    package let browser: String?
    /// The ids of the applications that have access to the session (``Grant``).
    package let applications: [String]
}

extension ListedSession {
    /// The condition that the session in a row of `sessions` has not ended. An idle session with two factors has not
    /// ended: the person can go on with it after confirming it with the password.
    static let isListed: SQL = "now() < ends_at AND (now() < last_seen_at + idle_after OR assurance = 2)"

    /// Returns the statement whose rows ``all(in:_:)`` reads. It selects the sessions that have not ended, at most
    /// ``AccountSession/maximum``. The session that was used last comes first.
    static func query(of account: ID<Account>) -> SQL {
        """
        SELECT id, created_at, last_seen_at, sealed,
               (SELECT coalesce(string_agg(application, ' ' ORDER BY application), '') FROM grants
                 WHERE session = sessions.id)
          FROM sessions
         WHERE account = \(account) AND \(isListed)
         ORDER BY last_seen_at DESC, id DESC LIMIT \(AccountSession.maximum)
        """
    }

    static func all(in rows: Rows, _ keys: KeyRing) throws(DatabaseError) -> [ListedSession] {
        var sessions: [ListedSession] = []
        for row in rows {
            let (id, createdAt, lastSeenAt, sealed, applications) = try row.decode(
                ID<AccountSession>.self,
                Date.self,
                Date.self,
                [UInt8].self,
                String.self
            )
            let origin = (try? keys.open(sealed, for: .session(id))).flatMap { try? JSON.read($0) }
            sessions.append(
                ListedSession(
                    id: id,
                    createdAt: createdAt,
                    lastSeenAt: lastSeenAt,
                    network: origin?["network"]?.string,
                    browser: origin?["browser"]?.string,
                    applications: applications.split(separator: " ").map(String.init)
                )
            )
        }
        return sessions
    }
}

extension Sessions {
    /// Signs out, also from an idle session. Returns false if the token has no session, or the session's lifetime was
    /// over already.
    package func end(_ token: Token<AccountSession>) async throws(SignInError) -> Bool {
        try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await !database.write(
                "DELETE FROM sessions WHERE \(Self.has(token)) AND now() < ends_at RETURNING 1",
                to: token.id.rawValue
            ).isEmpty
        }
    }

    /// Returns the sessions of the account that have not ended, at most ``AccountSession/maximum``. The session that
    /// was used last comes first.
    package func list(of account: ID<Account>) async throws(SignInError) -> [ListedSession] {
        try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await ListedSession.all(in: database.read(ListedSession.query(of: account)), keys)
        }
    }

    /// Ends one session of the account. Returns false if the account has no such session.
    package func end(_ id: ID<AccountSession>, of account: ID<Account>) async throws(SignInError) -> Bool {
        try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await !database.transaction(
                "DELETE FROM sessions WHERE id = \(id) AND account = \(account) RETURNING 1"
            )[0].isEmpty
        }
    }

    /// Ends all sessions of the account but this one, and all sign-ins to the account that wait for a second factor or
    /// a code.
    package func endOthers(than session: AccountSession) async throws(SignInError) {
        _ = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await database.transaction(
                "DELETE FROM sessions WHERE account = \(session.account.id) AND id <> \(session.id)",
                "DELETE FROM sign_ins WHERE account = \(session.account.id)"
            )
        }
    }
}
