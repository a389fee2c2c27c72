internal import Foundation

/// Sets up and removes the authenticator app of an account, and replaces its recovery codes.
extension Sessions {
    /// Returns the secret for a new authenticator app. Stores nothing: the secret is derived from the session, so no
    /// other session sees it. ``addAuthenticator(_:to:in:)`` stores the secret after the person has entered a code that
    /// the app has made with it.
    package func enrolment(of session: AccountSession) async throws(SignInError) -> Enrolment {
        try requireConfirmation(of: session)
        let (generation, _) = try await generation(of: session.account.id)
        return Enrolment(
            secret: secrets(of: session, generation)[0],
            issuer: signups.serviceName,
            account: session.account.email ?? session.account.username,
            now: session.now
        )
    }

    /// Stores the secret of the app that has made this code, in place of an earlier secret, and replaces the recovery
    /// codes. Returns the new recovery codes, and the session with its new token; the session is nil if a sign-out
    /// ended it during the change.
    ///
    /// Throws `refused` if the code is wrong, and `noSuchFactor` if a session with one factor would replace an app.
    package func addAuthenticator(
        _ code: String,
        to session: AccountSession,
        in language: Language
    ) async throws(SignInError) -> (codes: [RecoveryCode], session: NewSession?) {
        try requireConfirmation(of: session)
        let id = session.account.id
        let (generation, hasApp) = try await generation(of: id)
        let right = secrets(of: session, generation).lazy.compactMap { secret in
            TOTP.timeStep(of: code, using: secret, at: session.now).map { (secret: secret, step: $0) }
        }.first
        guard let right else { throw .refused([Refusal("code", .codeWrong)]) }
        let sealed = keys.seal(right.secret, for: .authenticator(of: id))
        let codes = (0..<RecoveryCode.count).map { _ in RecoveryCode() }
        let change: [SQL] = [
            """
            UPDATE accounts SET authenticators_added = authenticators_added + 1
             WHERE id = \(id) AND authenticators_added = \(generation) AND \(Self.mayChange)
               AND (\(session.assurance == .aal2) OR NOT EXISTS (SELECT FROM authenticators WHERE account = \(id)))
            RETURNING \(Signups.setFlag("changed", "true"))
            """,
            """
            INSERT INTO authenticators (account, sealed, last_step)
            SELECT \(id), \(sealed), \(right.step) WHERE \(Signups.flag("changed"))
            ON CONFLICT (account) DO UPDATE
               SET sealed = excluded.sealed, last_step = excluded.last_step, created_at = now()
            """,
            raise(session),
        ]
        let session = try await changeCredentials(
            of: session,
            telling: hasApp ? .authenticatorReplaced : .authenticatorAdded,
            in: language,
            change + replaceRecoveryCodes(of: id, by: codes, when: Signups.flag("changed"))
        )
        return (codes, session)
    }

    /// Returns the statement that raises the session to two factors, because the code has proved the second factor
    /// (NIST SP 800-63B-4 §2.2). The session gets the idle time and the lifetime of a session with two factors, but
    /// never ends later than before.
    private func raise(_ session: AccountSession) -> SQL {
        let methods = session.methods.withSecondFactor
        return """
            UPDATE sessions
               SET assurance = 2, methods = \(methods.text), is_kept = false,
                   idle_after = make_interval(secs => \(Assurance.aal2.idleTime(isKept: false).seconds)),
                   ends_at = least(ends_at, now() + make_interval(
                       secs => \(Assurance.aal2.lifetime(isKept: false).seconds)))
             WHERE id = \(session.id) AND \(Signups.flag("changed"))
            """
    }

    /// Removes the app and the recovery codes. Returns the session with its new token; nil if a sign-out ended it
    /// during the change.
    ///
    /// Throws `noSuchFactor` if the session has one factor or the account has no app, and `factorRequired` if the flow
    /// requires an app: passwords of such a flow may be too short to be the only factor.
    package func removeAuthenticator(
        of session: AccountSession,
        in language: Language
    ) async throws(SignInError) -> NewSession? {
        try requireConfirmation(of: session)
        if flow.requiresAuthenticator { throw .factorRequired }
        guard session.assurance == .aal2 else { throw .noSuchFactor }
        let id = session.account.id
        let remove: [SQL] = [
            """
            DELETE FROM authenticators WHERE account = \(id) AND \(Self.mayChange)
            RETURNING \(Signups.setFlag("changed", "true"))
            """,
            "DELETE FROM recovery_codes WHERE account = \(id) AND \(Signups.flag("changed"))",
        ]
        return try await changeCredentials(of: session, telling: .authenticatorRemoved, in: language, remove)
    }

    /// Replaces all recovery codes. Returns the new ones, and the session with its new token; the session is nil if a
    /// sign-out ended it during the change. Throws `noSuchFactor` if the session has one factor, or the account has no
    /// app.
    package func newRecoveryCodes(
        of session: AccountSession,
        in language: Language
    ) async throws(SignInError) -> (codes: [RecoveryCode], session: NewSession?) {
        try requireConfirmation(of: session)
        guard session.assurance == .aal2 else { throw .noSuchFactor }
        let (id, codes) = (session.account.id, (0..<RecoveryCode.count).map { _ in RecoveryCode() })
        let exists: SQL = """
            SELECT \(Signups.setFlag("changed", "true")) FROM authenticators WHERE account = \(id) AND \(Self.mayChange)
            """
        let session = try await changeCredentials(
            of: session,
            telling: .recoveryCodesReplaced,
            in: language,
            [exists] + replaceRecoveryCodes(of: id, by: codes, when: Signups.flag("changed"))
        )
        return (codes, session)
    }

    private func replaceRecoveryCodes(
        of account: ID<Account>,
        by codes: [RecoveryCode],
        when condition: SQL
    ) -> [SQL] {
        [
            "DELETE FROM recovery_codes WHERE account = \(account) AND \(condition)",
            """
            INSERT INTO recovery_codes (account, digest)
            SELECT \(account), digest FROM unnest(\(ByteStrings(codes.map(\.digest)))) AS digest WHERE \(condition)
            """,
        ]
    }

    /// Reads how often an app was added to the account, and whether the account has an app now. New secrets are also
    /// derived from this number, so a secret that was stored is never shown again.
    private func generation(of account: ID<Account>) async throws(SignInError) -> (Int, hasApp: Bool) {
        let row = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await database.read(
                """
                SELECT authenticators_added, EXISTS (SELECT FROM authenticators WHERE account = id)
                  FROM accounts WHERE id = \(account)
                """
            ).first?.decode(Int.self, Bool.self)
        }
        guard let row else { throw .noSession }
        return row
    }

    /// Derives one secret with each key of the key ring. The person sees the first one. Codes of the others are
    /// accepted too, because the keys may be rotated after the person has seen a secret.
    private func secrets(of session: AccountSession, _ generation: Int) -> [[UInt8]] {
        keys.digests(
            Array("authenticator of account".utf8),
            session.account.id.bytes,
            session.id.bytes,
            Array("\(generation)".utf8)
        ).map { Array($0.prefix(TOTP.secretLength)) }
    }
}
