internal import Foundation

/// A second factor that a person has entered.
package enum SecondFactor: Sendable {
    /// The six digits that the authenticator app shows.
    case totp(String)
    /// A recovery code, which takes the place of a lost app. It can be used once, and then a new one replaces it.
    case recoveryCode(RecoveryCode)
}

/// The authenticator app of an account.
struct StoredAuthenticator {
    let secret: [UInt8]
    /// The time step of the last accepted code.
    let lastStep: Int
    /// The time of the database.
    let now: Date
    /// The address of the account, to which mails about the authenticator go; nil if the account has none.
    let address: String?
    let language: Language
}

/// An authenticator that was read from the database.
enum FoundAuthenticator {
    case readable(StoredAuthenticator)
    /// No key of the key ring decrypts its secret.
    case unreadable
}

extension Signups {
    /// Reads the authenticator of the account; nil if it has none.
    func authenticator(of account: ID<Account>) async throws(DatabaseError) -> FoundAuthenticator? {
        let select: SQL = """
            SELECT sealed, last_step, now(), email, locale FROM authenticators JOIN accounts ON accounts.id = account
             WHERE account = \(account)
            """
        guard let row = try await database.read(select).first else { return nil }
        let (sealed, lastStep, now, address, locale) = try row.decode(
            [UInt8].self,
            Int.self,
            Date.self,
            String?.self,
            String.self
        )
        guard let secret = try? keys.open(sealed, for: .authenticator(of: account)) else { return .unreadable }
        return .readable(
            StoredAuthenticator(
                secret: secret,
                lastStep: lastStep,
                now: now,
                address: address,
                language: flow.knownLanguages[locale] ?? flow.languages[0]
            )
        )
    }

    /// Returns a statement that keeps other transactions from using a code of the account's authenticator, or a
    /// recovery code, until this transaction ends.
    static func lockAuthenticator(of account: ID<Account>) -> SQL {
        "SELECT 1 FROM authenticators WHERE account = \(account) FOR UPDATE"
    }
}

extension Sessions {
    /// Completes a sign-in that waits for the second factor.
    ///
    /// Throws `refused` for a wrong code. After ``PendingSignIn/maximumAttempts`` wrong codes the person must start
    /// again. Throws `codeRequired` after too many wrong codes in several sign-ins to the account.
    package func enter(
        _ factor: SecondFactor,
        for token: Token<PendingSignIn>
    ) async throws(SignInError) -> NewSession {
        let pending = try await pending(token)
        let counts = signups.failureCounts("second factor", pending.account.bytes, client.device)
        let (attempts, isKnown) = try await spend(on: token, pending.account, counts)
        let isRight = Signups.flag("is_right")
        guard let check = factorCheck(factor, of: pending.account, pending.authenticator) else {
            throw Self.wrong(attemptsLeft: PendingSignIn.maximumAttempts - attempts, isFinal: true)
        }
        // The flag `may_answer` is true if the sign-in still exists and the account is not disabled. Only then do the
        // statements use up the factor. Without the CTE, PostgreSQL would evaluate the flag before it waits for the
        // lock.
        let lock: SQL = """
            WITH locked AS MATERIALIZED (
                SELECT disabled_at FROM sign_ins JOIN accounts ON accounts.id = account
                 WHERE sign_ins.id = \(token.id) AND token_hash = \(token.hash) FOR UPDATE OF sign_ins
            )
            SELECT \(Signups.setFlag("may_answer", "disabled_at IS NULL")) FROM locked
            """
        do throws(SignInError) {
            var new = try await start(
                .aal2,
                pending.methods.withSecondFactor,
                of: pending.account,
                after: [lock] + check.statements + ["DELETE FROM sign_ins WHERE \(Self.has(token)) AND \(isRight)"]
                    + signups.forgive(counts, isKnown: isKnown, when: isRight),
                when: isRight
            )
            new.recoveryCode = check.newRecoveryCode
            signups.outbox.wakeSender()
            return new
        } catch .failed {
            throw Self.wrong(attemptsLeft: PendingSignIn.maximumAttempts - attempts, isFinal: true)
        }
    }

    private struct Pending {
        let account: ID<Account>
        let methods: SignInMethods
        let authenticator: StoredAuthenticator
    }

    private func pending(_ token: Token<PendingSignIn>) async throws(SignInError) -> Pending {
        let row = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await database.read(
                """
                SELECT account, methods FROM sign_ins JOIN accounts ON accounts.id = account
                 WHERE sign_ins.id = \(token.id) AND token_hash = \(token.hash) AND awaits = 'second-factor'
                   AND now() < expires_at AND attempts < \(PendingSignIn.maximumAttempts) AND disabled_at IS NULL
                """
            ).first?.decode(ID<Account>.self, String.self)
        }
        guard let (account, methods) = row, let authenticator = try await authenticator(of: account) else {
            throw .noSession
        }
        return Pending(account: account, methods: SignInMethods(methods), authenticator: authenticator)
    }

    /// Reads the authenticator of the account; nil if it has none. Throws `unreadable` if no key of the key ring
    /// decrypts it.
    func authenticator(of account: ID<Account>) async throws(SignInError) -> StoredAuthenticator? {
        let stored = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await signups.authenticator(of: account)
        }
        switch stored {
        case .readable(let authenticator): return authenticator
        case .unreadable: throw .unreadable(.authenticator(of: account))
        case nil: return nil
        }
    }

    /// Counts the attempt before the code is compared. Returns the number of attempts, and whether the account knows
    /// the device.
    private func spend(
        on token: Token<PendingSignIn>,
        _ account: ID<Account>,
        _ counts: FailureCounts
    ) async throws(SignInError) -> (attempts: Int, isKnown: Bool) {
        let spend: SQL = """
            UPDATE sign_ins SET attempts = attempts + 1
             WHERE \(Self.has(token)) AND now() < expires_at AND attempts < \(PendingSignIn.maximumAttempts)
            RETURNING attempts, \(Signups.setFlag("spent", "true"))
            """
        let isKnown: SQL = """
            EXISTS (SELECT FROM devices WHERE account = \(account) AND digest = \(client.device?.digest ?? []))
            """
        let count = signups.count(counts, isKnown: Signups.flag("known_device"), when: Signups.flag("spent"))
        let (spent, known, isTooMany) = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                [spend, "SELECT \(Signups.setFlag("known_device", isKnown))"] + count
                    + ["SELECT \(Signups.hasTooManyFailures)"]
            )
            return (
                try rows[0].first?.decode(Int.self, String.self),
                try rows[1].only.decode(String.self) == "true", try rows[rows.count - 1].only.decode(Bool.self)
            )
        }
        guard let (attempts, _) = spent else { throw .noSession }
        if isTooMany { throw .codeRequired }
        return (attempts, known)
    }

    /// The statements that check and use up a second factor. If the flag `may_answer` is true, they set the flag
    /// `is_right` for a code of the app that is newer than the latest accepted code, or for a recovery code of the
    /// account.
    struct FactorCheck {
        let statements: [SQL]
        /// The code that replaces the entered recovery code if that one is right; nil for a code of the app.
        var newRecoveryCode: RecoveryCode?
    }

    /// Returns the check of a second factor; nil for a wrong code of the app. A code of the app is accepted once (RFC
    /// 6238 §5.2). A recovery code is replaced by a new one, and a mail tells the person (NIST SP 800-63B-4 §4.2.1.1,
    /// §4.6).
    func factorCheck(
        _ factor: SecondFactor,
        of account: ID<Account>,
        _ authenticator: StoredAuthenticator
    ) -> FactorCheck? {
        switch factor {
        case .totp(let code):
            guard let step = TOTP.timeStep(of: code, using: authenticator.secret, at: authenticator.now) else {
                return nil
            }
            return FactorCheck(statements: [
                """
                UPDATE authenticators SET last_step = \(step) WHERE account = \(account) AND last_step < \(step)
                   AND \(Signups.flag("may_answer"))
                RETURNING \(Signups.setFlag("is_right", "true"))
                """
            ])
        case .recoveryCode(let code):
            let (new, isRight) = (RecoveryCode(), Signups.flag("is_right"))
            let notice = authenticator.address.map {
                signups.mail(
                    about: .recoveryCodeUsed,
                    on: account,
                    to: $0,
                    in: authenticator.language,
                    when: isRight
                )
            }
            return FactorCheck(
                statements: [
                    Signups.lockAuthenticator(of: account),
                    """
                    DELETE FROM recovery_codes WHERE account = \(account) AND digest = \(code.digest)
                       AND \(Signups.flag("may_answer"))
                    RETURNING \(Signups.setFlag("is_right", "true"))
                    """,
                    """
                    INSERT INTO recovery_codes (account, digest)
                    SELECT \(account), \(new.digest) WHERE \(isRight)
                    """,
                ] + [notice].compactMap { $0 },
                newRecoveryCode: new
            )
        }
    }

    /// Returns the error for a wrong code. If no attempts are left, the error tells the person to get another mailed
    /// code, or, if `isFinal` is true, to start the sign-in again.
    ///
    /// - Parameter isFinal: true for a second factor; false for a mailed code, because another one can be mailed.
    static func wrong(attemptsLeft: Int, isFinal: Bool) -> SignInError {
        attemptsLeft > 0
            ? .refused([Refusal("code", .codeWrong, ["attempts_left": .integer(attemptsLeft)])])
            : .refused([Refusal("code", .codeExhausted, isFinal ? ["final": true] : [:])])
    }
}
