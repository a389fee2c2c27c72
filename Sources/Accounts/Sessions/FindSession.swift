internal import Foundation

extension Sessions {
    /// Returns the session of the token.
    ///
    /// Throws `noSession` if the session has ended or the account is disabled, and `idle` if the person must confirm
    /// the session first. Records at most once a minute that the session is in use; otherwise only reads.
    package func find(_ token: Token<AccountSession>) async throws(SignInError) -> AccountSession {
        let session = try await check(token)
        if session.now.timeIntervalSince(session.lastSeenAt) > 60 { try await touch(session) }
        return session
    }

    /// Like ``find(_:)``, but does not record that the session is in use, so it never writes.
    package func check(_ token: Token<AccountSession>) async throws(SignInError) -> AccountSession {
        let session = try await findEvenIfIdle(token)
        if session.isIdle { throw .idle }
        return session
    }

    /// Like ``check(_:)``, but also returns an idle session with two factors. An idle session with one factor has
    /// ended.
    package func findEvenIfIdle(_ token: Token<AccountSession>) async throws(SignInError) -> AccountSession {
        let found = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await database.read(
                """
                SELECT \(AccountSession.columns) FROM sessions AS session JOIN accounts ON accounts.id = account
                 WHERE session.id = \(token.id) AND token_hash = \(token.hash) AND now() < ends_at
                   AND disabled_at IS NULL
                """
            ).first.map { row throws(DatabaseError) in try AccountSession(row) }
        }
        guard let session = found, !session.isIdle || session.assurance == .aal2 else { throw .noSession }
        return session
    }

    private func touch(_ session: AccountSession) async throws(SignInError) {
        _ = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await database.write(
                """
                UPDATE sessions SET last_seen_at = now()
                 WHERE id = \(session.id) AND last_seen_at < now() - interval '1 minute'
                """,
                to: session.id.rawValue
            )
        }
    }
}
