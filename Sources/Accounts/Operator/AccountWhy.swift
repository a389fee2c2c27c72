package import Foundation

/// Something that matters to a person who cannot sign in.
package enum SignInFinding: Sendable {
    /// By an operator.
    case disabled(since: Date)
    /// The flow or the account has nothing that signs in.
    case noMethod
    /// The flow asks for a password, but the account has none. `canReset`: a recovery sets one.
    case noPassword(canReset: Bool)
    /// The flow lets only mailed codes sign in.
    case onlyMailedCodes
    /// Browsers that the account does not know have failed too often, so that further guesses are refused.
    case guessed(Guess, until: Date)
    /// The server lacks the key of the authenticator.
    case unreadableAuthenticator
    /// The account needs a code of its authenticator, or a recovery code.
    case secondFactor(recoveryCodes: Int)
    /// The account has moved to another address. The owner of the old one can restore it.
    case addressLeft(at: Date, restorableUntil: Date)
    /// Mails to the address of the account are late.
    case mailWaits(count: Int, since: Date, lastError: String?)
    /// The person is signed in somewhere.
    case signedIn(sessions: Int, lastUsedAt: Date)

    package enum Guess: Sendable {
        case passwordOfAddress, passwordOfUsername, codeOfAddress, codeOfUsername, secondFactor
        /// The mailed code of a recovery, and the code of the app in one.
        case codeOfRecovery, appInRecovery
    }

    /// Whether it keeps the person from signing in, at least in some browser or with some answer.
    package var isObstacle: Bool {
        switch self {
        case .onlyMailedCodes, .signedIn: false
        case .secondFactor(let recoveryCodes): recoveryCodes == 0
        default: true
        }
    }
}

/// What an operator can know about the sign-in of a person.
package struct SignInDiagnosis: Sendable {
    package let account: ID<Account>
    package let findings: [SignInFinding]
    /// The ways to sign in that the flow and the account have in common.
    package let methods: Set<SignInRules.Method>
    /// Whether a mailed code can make a browser known.
    package let hasAddress: Bool
    /// The number of browsers that strangers do not affect.
    package let knownDevices: Int
    /// The time of the database.
    package let now: Date

    package var hasObstacle: Bool { findings.contains(where: \.isObstacle) }
}

extension Operator {
    /// Returns what stands in the way of a sign-in to the account, or nil if the account does not exist.
    ///
    /// Limits of a single network or browser, and mail that is dead, cannot be found from the account.
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
        if let address, let late = try await lateMail(to: address) { findings.append(late) }
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

    /// The counts of strangers that have reached their maximum.
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
            let exceeded = count.subjects.compactMap { failures[$0] }.filter { $0.count >= count.maximum }
            return exceeded.map(\.until).max().map { .guessed(guess, until: $0) }
        }
    }

    private func strangers(_ factor: String, _ subject: [UInt8]) -> FailureCount {
        signups.failureCounts(factor, subject, nil).ofStrangers
    }

    /// The mails to the address that wait for another attempt, or for more than a minute.
    private func lateMail(to address: EmailAddress) async throws(DatabaseError) -> SignInFinding? {
        let (count, since, lastError) = try await database.read(
            """
            SELECT count(*), min(created_at), max(last_error) FROM outbox
             WHERE recipient = ANY (\(ByteStrings(signups.outbox.recipients(address)))) AND state = 'waiting'
               AND template <> 'withheld' AND now() < useless_after
               AND (last_error IS NOT NULL OR created_at < now() - interval '1 minute')
            """
        ).only.decode(Int.self, Date?.self, String?.self)
        return since.map { .mailWaits(count: count, since: $0, lastError: lastError) }
    }
}
