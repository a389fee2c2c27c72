internal import Foundation

/// The password or the second factor with which a signed-in person proves their identity again (reauthentication, NIST
/// SP 800-63B-4).
package enum Reauthentication: Sendable {
    case password(SharedSecret)
    case secondFactor(SecondFactor)
}

extension AccountSession {
    /// The time after a sign-in or a confirmation in which the person may change credentials, begin a change of the
    /// address, and export or erase the account.
    package static let confirmationTime = Duration.seconds(600)
    /// The maximum number of wrong confirmations in a row. The next attempt ends the session, even if it is right.
    static let maximumFailures = 10
}

extension Sessions {
    /// Confirms a session: records that the person has just proved who they are, and gives the session a new token. A
    /// password makes an idle session with two factors usable again; an idle session with one factor has ended. A
    /// second factor turns a session with one factor into one with two.
    ///
    /// Throws `refused` for a wrong password or code, `idle` for a second factor in an idle session, and `noSession` if
    /// the session has ended. After ``AccountSession/maximumFailures`` failed attempts in a row, the next attempt ends
    /// the session, even if it is right. An attempt that throws `idle`, `limited`, `hashing`, or `unreadable` because
    /// no key of the key ring decrypts the authenticator, does not count as a failed one.
    package func confirm(
        _ token: Token<AccountSession>,
        by confirmation: Reauthentication
    ) async throws(SignInError) -> NewSession {
        let session = try await findEvenIfIdle(token)
        if session.isIdle, !confirmation.isPassword { throw .idle }
        // Before the attempt is counted, because without the authenticator it cannot be evaluated.
        let authenticator = try await confirmation.isPassword ? nil : authenticator(of: session.account.id)
        let hash = try await countAttempt(on: token, isPassword: confirmation.isPassword)
        do throws(SignInError) {
            switch confirmation {
            case .password(let password): return try await confirm(session, with: password, hash)
            case .secondFactor(let factor): return try await confirm(session, with: factor, authenticator)
            }
        } catch {
            switch error {
            case .failed: throw .refused([confirmation.refusal])
            case .hashing: await forgetAttempt(on: token)
            default: break
            }
            throw error
        }
    }

    /// Takes back an attempt that was not evaluated. The statement also runs if the deadline of the request has passed
    /// or the client has left, because that may be the reason why the attempt was not evaluated.
    private func forgetAttempt(on token: Token<AccountSession>) async {
        let forget: SQL = "UPDATE sessions SET failures = greatest(failures - 1, 0) WHERE \(Self.has(token))"
        await Task { [database] in
            _ = try? await Deadline.verifying { try await database.write(forget, to: token.id.rawValue) }
        }.value
    }

    /// Throws `failed` for a wrong password, or if there is no hash.
    private func confirm(
        _ session: AccountSession,
        with password: SharedSecret,
        _ hash: StoredPassword?
    ) async throws(SignInError) -> NewSession {
        let account = session.account.id
        guard let hash, try await isRight(password, hash) else { throw .failed }
        return try await withCurrent(hash, of: account, password) { (current) throws(SignInError) in
            let setIsRight = Signups.setFlag("is_right", "has_password(\(account), \(current.rawValue))")
            let check: SQL = "SELECT \(setIsRight) WHERE \(Signups.flag("may_answer"))"
            return try await renew(session, to: session.assurance, session.methods, after: [check])
        }
    }

    /// False also if the hash needs more memory than the workers of this server have. A sign-in refuses every password
    /// of such an account, too.
    private func isRight(_ password: SharedSecret, _ hash: StoredPassword) async throws(SignInError) -> Bool {
        do throws(SignInError) {
            return try await verify(password, against: hash).isRight
        } catch .hashing(.tooCostly) {
            signups.metrics.signIns.add(1, "uncheckable")
            return false
        }
    }

    /// Throws `failed` for a wrong code, or if there is no authenticator.
    private func confirm(
        _ session: AccountSession,
        with factor: SecondFactor,
        _ authenticator: StoredAuthenticator?
    ) async throws(SignInError) -> NewSession {
        guard let authenticator, let check = factorCheck(factor, of: session.account.id, authenticator) else {
            throw .failed
        }
        var new = try await renew(session, to: .aal2, session.methods.withSecondFactor, after: check.statements)
        new.recoveryCode = check.newRecoveryCode
        signups.outbox.wakeSender()
        return new
    }

    /// Counts the attempt as a failure before it is evaluated, and returns the hash of the account's password; nil if
    /// the account has no password, or a hash that cannot be parsed. If the session already has too many failures, ends
    /// the session instead, and throws `noSession`. Throws `limited` or `hashing` if the password must not be checked
    /// now.
    private func countAttempt(
        on token: Token<AccountSession>,
        isPassword: Bool
    ) async throws(SignInError) -> StoredPassword? {
        let charges = isPassword ? signups.charges(.passwordHashesFromNetwork, of: signups.network) : []
        if isPassword, let rejection = signups.hashing.rejection(of: signups.network) { throw .hashing(rejection) }
        let endSession: SQL = """
            DELETE FROM sessions
             WHERE \(Self.has(token)) AND failures >= \(AccountSession.maximumFailures) AND \(Signups.isWithinLimits)
            """
        let count: SQL = """
            UPDATE sessions SET failures = failures + 1
             WHERE \(Self.has(token)) AND failures < \(AccountSession.maximumFailures) AND \(Signups.isWithinLimits)
            RETURNING password_hash(account)
            """
        let (isCounted, hash, exceeded) = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(signups.consume(charges), endSession, count)
            let hash: String? = try rows[2].first?.decode(String?.self) ?? nil
            return (!rows[2].isEmpty, hash, try signups.exceeded(charges, rows[0]))
        }
        if let exceeded { throw .limited(exceeded) }
        guard isCounted else { throw .noSession }
        return hash.flatMap(StoredPassword.init)
    }

    /// Locks the account and the session. Sets the flag `may_answer` if the session still has this token and the
    /// account is not disabled; otherwise throws `noSession`. Runs the statements, and updates the session if they set
    /// the flag `is_right`; otherwise throws `failed`.
    ///
    /// Moves the end of the session later only if the session had one factor and still has one. With two factors, only
    /// a new sign-in gives a later end (NIST SP 800-63B-4 §2.2.3).
    private func renew(
        _ session: AccountSession,
        to assurance: Assurance,
        _ methods: SignInMethods,
        after statements: [SQL]
    ) async throws(SignInError) -> NewSession {
        let token = Token(for: session.id)
        let lengthens = session.assurance == .aal1 && assurance == .aal1
        let isKept = session.isKept && assurance == .aal1
        // The statements use up a second factor only if `may_answer` is true. Without the CTE, PostgreSQL would
        // evaluate this flag before it waits for the lock.
        let lockSession: SQL = """
            WITH locked AS MATERIALIZED (
                SELECT disabled_at FROM sessions JOIN accounts ON accounts.id = account
                 WHERE sessions.id = \(session.id) AND token_hash = \(session.tokenHash) FOR UPDATE OF sessions
            )
            SELECT \(Signups.setFlag("may_answer", "disabled_at IS NULL")) FROM locked
            """
        let newEnd: SQL = "now() + make_interval(secs => \(assurance.lifetime(isKept: isKept).seconds))"
        let update: SQL = """
            UPDATE sessions
               SET token_hash = \(token.hash), auth_time = now(), last_seen_at = now(), failures = 0,
                   assurance = \(assurance.rawValue), methods = \(methods.text), is_kept = \(isKept),
                   idle_after = make_interval(secs => \(assurance.idleTime(isKept: isKept).seconds)),
                   ends_at = CASE WHEN \(lengthens) THEN \(newEnd) ELSE least(ends_at, \(newEnd)) END
             WHERE id = \(session.id) AND token_hash = \(session.tokenHash) AND \(Signups.flag("is_right"))
            """
        let select: SQL = """
            SELECT \(AccountSession.columns) FROM sessions AS session JOIN accounts ON accounts.id = account
             WHERE session.id = \(session.id) AND token_hash = \(token.hash) AND disabled_at IS NULL
            """
        let flags: SQL = "SELECT \(Signups.flag("may_answer")), \(Signups.flag("is_right"))"
        let (renewed, mayAnswer, isRight) = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                [Self.lock(session.account.id), lockSession] + statements + [update, select, flags]
            )
            let renewed = try rows[rows.count - 2].first.map { row throws(DatabaseError) in try AccountSession(row) }
            let (mayAnswer, isRight) = try rows[rows.count - 1].only.decode(Bool.self, Bool.self)
            return (renewed, mayAnswer, isRight)
        }
        guard mayAnswer else { throw .noSession }
        guard isRight else { throw .failed }
        // Not expected: the locks keep the session and the account as they were when `may_answer` was set.
        guard let renewed else { throw .noSession }
        return NewSession(session: renewed, token: token, device: nil)
    }
}

extension Reauthentication {
    fileprivate var isPassword: Bool { if case .password = self { true } else { false } }

    /// The refusal of a wrong answer. It names the member of the request that has the answer.
    fileprivate var refusal: Refusal {
        switch self {
        case .password: Refusal("password", .passwordWrong)
        case .secondFactor(.totp): Refusal("code", .codeWrong)
        case .secondFactor(.recoveryCode): Refusal("recovery_code", .codeWrong)
        }
    }
}
