internal import Foundation

/// The proof by which the person of a session shows again who they are.
package enum Confirmation: Sendable {
    case password(SharedSecret)
    case secondFactor(SecondFactor)
}

extension AccountSession {
    /// The time after a confirmation in which credentials may be changed.
    package static let confirmationTime = Duration.seconds(600)
    /// The maximum number of wrong confirmations in a row. One more attempt ends the session.
    static let maximumFailures = 10
}

extension Sessions {
    /// Confirms a session: updates the time of the last proof, and gives the session a new token. A password makes an
    /// idle session usable again. A second factor turns a session with one factor into one with two.
    ///
    /// Throws `refused` for a wrong answer, and `idle` for a second factor in an idle session. Too many wrong answers
    /// end the session.
    package func confirm(
        _ token: Token<AccountSession>,
        by confirmation: Confirmation
    ) async throws(SignInError) -> NewSession {
        let session = try await findEvenIfIdle(token)
        let account = session.account.id
        let hash = try await spend(on: token, isPassword: confirmation.isPassword)
        switch confirmation {
        case .password(let password):
            let wrong = SignInError.refused([Refusal("password", .passwordWrong)])
            guard let hash, try await verify(password, against: hash).isRight else { throw wrong }
            do throws(SignInError) {
                return try await withCurrent(hash, of: account, password) { (hash) throws(SignInError) in
                    let isRight = Signups.setFlag("is_right", "has_password(\(account), \(hash.rawValue))")
                    let check: SQL = "SELECT \(isRight) WHERE \(Signups.flag("may_answer"))"
                    return try await renew(
                        session,
                        session.assurance,
                        session.methods,
                        after: [check],
                        orThrow: .failed
                    )
                }
            } catch .failed {
                throw wrong
            }
        case .secondFactor(let factor):
            if session.isIdle { throw .idle }
            let wrong = SignInError.refused([Refusal("code", .codeWrong)])
            guard let authenticator = try await authenticator(of: account),
                let answer = answer(factor, of: account, authenticator)
            else { throw wrong }
            var new = try await renew(
                session,
                .aal2,
                session.methods.withSecondFactor,
                after: answer.statements,
                orThrow: wrong
            )
            new.recoveryCode = answer.newRecoveryCode
            signups.outbox.wakeSender()
            return new
        }
    }

    /// Counts the attempt, and returns the hash of the account's password; nil if the account has none.
    private func spend(on token: Token<AccountSession>, isPassword: Bool) async throws(SignInError) -> StoredPassword? {
        let limits = isPassword ? signups.charges(.passwordHashesFromNetwork, of: signups.network) : []
        if isPassword, let rejection = signups.hashing.rejection(of: signups.network) { throw .hashing(rejection) }
        let end: SQL = """
            DELETE FROM sessions WHERE \(Self.has(token)) AND failures >= \(AccountSession.maximumFailures)
            """
        let spend: SQL = """
            UPDATE sessions SET failures = failures + 1
             WHERE \(Self.has(token)) AND failures < \(AccountSession.maximumFailures) AND \(Signups.isWithinLimits)
            RETURNING password_hash(account)
            """
        let (hash, exceeded) = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(signups.consume(limits), end, spend)
            return (try rows[2].first?.decode(String?.self), try signups.exceeded(limits, rows[0]))
        }
        if let exceeded { throw .limited(exceeded) }
        guard let hash else { throw .noSession }
        return hash.flatMap(StoredPassword.init)
    }

    /// Runs the statements, and updates the session if they set the flag `is_right`. A session with two factors does
    /// not get a later end, because that needs a full sign-in (NIST SP 800-63B-4 §2.2.3).
    private func renew(
        _ session: AccountSession,
        _ assurance: Assurance,
        _ methods: SignInMethods,
        after statements: [SQL],
        orThrow wrong: SignInError
    ) async throws(SignInError) -> NewSession {
        let token = Token(for: session.id)
        let lengthens = session.assurance == .aal1 && assurance == .aal1
        let isKept = session.isKept && assurance == .aal1
        // Sets `may_answer` only if the session still exists, because the statements use up a second factor.
        let lock: SQL = """
            WITH locked AS MATERIALIZED (
                SELECT disabled_at FROM sessions JOIN accounts ON accounts.id = account
                 WHERE sessions.id = \(session.id) AND token_hash = \(session.tokenHash) FOR UPDATE OF sessions
            )
            SELECT \(Signups.setFlag("may_answer", "disabled_at IS NULL")) FROM locked
            """
        let end: SQL = "now() + make_interval(secs => \(assurance.lifetime(isKept: isKept).seconds))"
        let update: SQL = """
            UPDATE sessions
               SET token_hash = \(token.hash), auth_time = now(), last_seen_at = now(), failures = 0,
                   assurance = \(assurance.rawValue), methods = \(methods.text), is_kept = \(isKept),
                   idle_after = make_interval(secs => \(assurance.idleTime(isKept: isKept).seconds)),
                   ends_at = CASE WHEN \(lengthens) THEN \(end) ELSE least(ends_at, \(end)) END
             WHERE id = \(session.id) AND token_hash = \(session.tokenHash) AND \(Signups.flag("is_right"))
            """
        let select: SQL = """
            SELECT \(AccountSession.columns) FROM sessions AS session JOIN accounts ON accounts.id = account
             WHERE session.id = \(session.id) AND token_hash = \(token.hash) AND disabled_at IS NULL
            """
        let flags: SQL = "SELECT \(Signups.flag("may_answer")), \(Signups.flag("is_right"))"
        let (renewed, exists, isRight) = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                [Self.lock(session.account.id), lock] + statements + [update, select, flags]
            )
            let renewed = try rows[rows.count - 2].first.map { row throws(DatabaseError) in try AccountSession(row) }
            let (exists, isRight) = try rows[rows.count - 1].only.decode(Bool.self, Bool.self)
            return (renewed, exists, isRight)
        }
        guard exists else { throw .noSession }
        guard isRight else { throw wrong }
        guard let renewed else { throw .noSession }
        return NewSession(session: renewed, token: token, device: nil)
    }
}

extension Confirmation {
    fileprivate var isPassword: Bool { if case .password = self { true } else { false } }
}
