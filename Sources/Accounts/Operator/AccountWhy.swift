package import Foundation

/// A fact about an account that helps an operator if the person of the account cannot sign in.
package enum SignInFinding: Sendable {
    /// An operator has disabled the account.
    case disabled(since: Date)
    /// The flow permits only mailed codes, but the account has no address, or the flow permits no sign-in at all.
    case noMethod
    /// The flow permits passwords, but the account has none. `canReset` is true if a recovery can set one.
    case noPassword(canReset: Bool)
    /// The flow permits mailed codes, but no passwords.
    case onlyMailedCodes
    /// Wrong guesses have reached the maximum. Further guesses are refused until that time, or longer if guesses go on.
    /// For passwords and second factors of a sign-in, only browsers that the account does not know are affected; for
    /// the other guesses, all browsers.
    case guessed(Guess, until: Date)
    /// `ACCOUNTS_KEYS` lacks the key that encrypted the secret of the authenticator.
    case unreadableAuthenticator
    /// A sign-in needs a code of the account's authenticator, or a recovery code. `recoveryCodes` is the number of
    /// recovery codes that are left.
    case secondFactor(recoveryCodes: Int)
    /// The account has moved to another address. The reader of the old address can restore it until that time.
    case addressLeft(at: Date, restorableUntil: Date)
    /// Mails to the address of the account wait with an error, such as that of a failed attempt, or for over a minute.
    case mailWaits(count: Int, since: Date, lastError: String?)
    /// Mails about the account, or of unfinished drafts with its address, are dead: the mail server has refused them
    /// for good, the final attempt has failed, or they expired before delivery.
    case mailDead(count: Int, at: Date, lastError: String)
    /// The person is signed in somewhere.
    case signedIn(sessions: Int, lastUsedAt: Date)

    package enum Guess: Sendable {
        case passwordOfAddress, passwordOfUsername, codeOfAddress, codeOfUsername, secondFactor
        /// In a recovery: the mailed code, the code of the authenticator app, and the recovery code.
        case codeOfRecovery, appInRecovery, recoveryCodeInRecovery
    }

    /// Whether the finding can be the reason that the person cannot sign in, at least in some browsers.
    package var isObstacle: Bool {
        switch self {
        case .onlyMailedCodes, .signedIn: false
        case .secondFactor(let recoveryCodes): recoveryCodes == 0
        default: true
        }
    }
}

/// The facts about the sign-in to an account that an operator can find in the database.
package struct SignInDiagnosis: Sendable {
    package let account: ID<Account>
    package let findings: [SignInFinding]
    /// The ways to sign in that the flow permits and the account can use.
    package let methods: Set<SignInRules.Method>
    /// Whether the account has an address. A code that is mailed to it makes a browser known to the account.
    package let hasAddress: Bool
    /// The number of browsers that the account knows. Wrong guesses of other browsers at the password or at the second
    /// factor of a sign-in do not count against these browsers.
    package let knownDevices: Int
    /// The time of the database.
    package let now: Date

    package var hasObstacle: Bool { findings.contains(where: \.isObstacle) }
}

extension Operator {
    /// Returns the facts about the sign-in to the account; nil if the account does not exist.
    ///
    /// Does not find the counts of wrong guesses from a single network or browser: the digests that identify these
    /// counts include the network or the device token, which the operator does not know.
    package func diagnosis(of id: ID<Account>) async throws(DatabaseError) -> SignInDiagnosis? {
        let rows = try await database.transaction(
            """
            SELECT email, disabled_at, \(Self.hasPassword(id)), now(),
                   (SELECT count(*) FROM devices WHERE account = accounts.id),
                   (SELECT count(*) FROM recovery_codes WHERE account = accounts.id)
              FROM accounts WHERE id = \(id)
            """,
            "SELECT value FROM identifiers WHERE account = \(id) AND reserved_until IS NULL ORDER BY kind",
            """
            SELECT changed_at, expires_at FROM address_changes
             WHERE account = \(id) AND now() < expires_at ORDER BY changed_at
            """,
            ListedSession.query(of: id)
        )
        guard let row = rows[0].first else { return nil }
        let (email, disabledAt, hasPassword, now, devices, recoveryCodes) = try row.decode(
            String?.self,
            Date?.self,
            Bool.self,
            Date.self,
            Int.self,
            Int.self
        )
        let address = email.flatMap { EmailAddress($0) }
        let allowed = flow.signIn.methods
        let methods = allowed.filter { $0 == .password ? hasPassword : address != nil }

        var findings: [SignInFinding] = []
        if let disabledAt { findings.append(.disabled(since: disabledAt)) }
        if allowed.contains(.password), !hasPassword {
            findings.append(.noPassword(canReset: flow.hasRecovery && address != nil))
        } else if methods.isEmpty {
            findings.append(.noMethod)
        } else if !allowed.contains(.password) {
            findings.append(.onlyMailedCodes)
        }
        var identifiers: [SignInIdentifier] = []
        for row in rows[1] { identifiers.append(SignInIdentifier(try row.decode(String.self))) }
        findings += try await guesses(at: id, identifiers)
        switch try await signups.authenticator(of: id) {
        case .readable: findings.append(.secondFactor(recoveryCodes: recoveryCodes))
        case .unreadable: findings.append(.unreadableAuthenticator)
        case nil: break
        }
        for row in rows[2] {
            let (leftAt, until) = try row.decode(Date.self, Date.self)
            findings.append(.addressLeft(at: leftAt, restorableUntil: until))
        }
        if let address {
            findings += try await [lateMail(of: id, to: address), deadMail(about: id, to: address)].compactMap { $0 }
        }
        let sessions = try ListedSession.all(in: rows[3], signups.keys)
        if disabledAt == nil, let last = sessions.first {
            findings.append(.signedIn(sessions: sessions.count, lastUsedAt: last.lastSeenAt))
        }
        return SignInDiagnosis(
            account: id,
            findings: findings,
            methods: methods,
            hasAddress: address != nil,
            knownDevices: devices,
            now: now
        )
    }

    /// Returns a finding for each count of wrong guesses (``FailureCounts/ofStrangers``) that has reached its maximum.
    private func guesses(
        at account: ID<Account>,
        _ identifiers: [SignInIdentifier]
    ) async throws(DatabaseError) -> [SignInFinding] {
        var counts: [(guess: SignInFinding.Guess, count: FailureCount)] = []
        for identifier in identifiers {
            let isAddress = identifier.address != nil
            let (password, code) = ("password", "mailed code")
            if flow.signIn.methods.contains(.password) {
                counts.append(
                    (isAddress ? .passwordOfAddress : .passwordOfUsername, strangers(password, identifier.bytes))
                )
            }
            counts.append((isAddress ? .codeOfAddress : .codeOfUsername, strangers(code, identifier.bytes)))
        }
        counts.append((.secondFactor, strangers("second factor", account.bytes)))
        if flow.hasRecovery {
            for address in identifiers.compactMap(\.address) {
                counts.append((.codeOfRecovery, strangers("code of a recovery", Array(address.rawValue.utf8))))
            }
            counts.append((.appInRecovery, strangers("second factor of a recovery", account.bytes)))
            counts.append((.recoveryCodeInRecovery, strangers("recovery code of a recovery", account.bytes)))
        }
        let rows = try await database.read(
            """
            SELECT subject, count, until FROM sign_in_failures
             WHERE subject = ANY (\(ByteStrings(counts.flatMap(\.count.subjects)))) AND now() <= until
            """
        )
        var failures: [[UInt8]: (count: Int, until: Date)] = [:]
        for row in rows {
            let (subject, count, until) = try row.decode([UInt8].self, Int.self, Date.self)
            failures[subject] = (count, until)
        }
        return counts.compactMap { guess, count in
            let reached = count.subjects.compactMap { failures[$0] }.filter { $0.count >= count.maximum }
            return reached.map(\.until).max().map { .guessed(guess, until: $0) }
        }
    }

    private func strangers(_ factor: String, _ subject: [UInt8]) -> FailureCount {
        signups.failureCounts(factor, subject, nil).ofStrangers
    }

    /// Returns a finding about the mails to the address, and the mails with a code to sign in to the account, that wait
    /// with an error or are older than a minute. Nil if there is no such mail. The error is that of the newest of these
    /// mails that has an error.
    private func lateMail(
        of account: ID<Account>,
        to address: EmailAddress
    ) async throws(DatabaseError) -> SignInFinding? {
        let (count, since, lastError) = try await database.read(
            """
            SELECT count(*), min(created_at),
                   (array_agg(last_error ORDER BY created_at DESC) FILTER (WHERE last_error IS NOT NULL))[1]
              FROM outbox
             WHERE state = 'waiting'
               AND (recipient = ANY (\(ByteStrings(signups.outbox.recipientDigests(of: address))))
                    OR account = \(account) AND template = \(CodeMail.signIn.rawValue))
               AND template <> 'withheld' AND now() < useless_after
               AND (last_error IS NOT NULL OR created_at < now() - interval '1 minute')
            """
        ).only.decode(Int.self, Date?.self, String?.self)
        return since.map { .mailWaits(count: count, since: $0, lastError: lastError) }
    }

    /// Returns a finding about dead mails: mails about the account since its latest change of address, except those to
    /// an address that it has left, and mails of unfinished drafts with this address. Nil if there is no such mail.
    private func deadMail(
        about account: ID<Account>,
        to address: EmailAddress
    ) async throws(DatabaseError) -> SignInFinding? {
        let (count, at, lastError) = try await database.read(
            """
            SELECT count(*), max(finished_at), (array_agg(last_error ORDER BY finished_at DESC))[1] FROM outbox
             WHERE state = 'dead' AND last_error IS NOT NULL AND template <> 'withheld'
               AND (account = \(account) AND template NOT IN (\(AddressChange.template), \(AccountNotice.addressWithdrawn.rawValue))
                    AND created_at > coalesce((SELECT max(changed_at) FROM address_changes WHERE account = \(account)), '-infinity')
                    OR draft IN (SELECT id FROM drafts WHERE account_id IS NULL
                                    AND email_digest = ANY (\(ByteStrings(signups.addressDigests(address))))))
            """
        ).only.decode(Int.self, Date?.self, String?.self)
        guard let at, let lastError else { return nil }
        return .mailDead(count: count, at: at, lastError: lastError)
    }
}
