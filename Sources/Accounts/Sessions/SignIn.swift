internal import Foundation

extension Sessions {
    /// Signs in with an address or a username, and the password.
    ///
    /// Neither the response to a failed sign-in nor its duration tells whether there is an account, whether it is
    /// disabled, or how its password is stored: the same statements run, and a password is hashed in any case.
    ///
    /// - Parameters:
    ///   - replaced: the present session of this client, which ends if the sign-in succeeds or waits for the second
    ///     factor.
    ///   - isKept: whether the session outlives the browser. Has no effect on a session with two factors.
    package func signIn(
        as identifier: SignInIdentifier,
        with password: SharedSecret,
        isKept: Bool = false,
        replacing replaced: Token<AccountSession>? = nil
    ) async throws(SignInError) -> SignInProgress {
        let start = ContinuousClock.now
        do throws(SignInError) {
            let counts = signups.failureCounts("password", identifier.bytes, client.device)
            let account = try await begin(identifier, counts)
            let (hash, began) = try await check(password, of: account)
            guard let hash, let id = account.id, !account.isDisabled else {
                try await outlastSlowestCheck(since: began)
                throw .failed
            }
            let current = try await rehashed(password, hash, of: id)
            let progress = try await withCurrent(current, of: id, password) { (hash) throws(SignInError) in
                try await finish(id, account, hash, isKept, counts, replaced)
            }
            signups.metrics.signIns.add(1, "succeeded")
            return progress
        } catch {
            switch error {
            case .failed: signups.metrics.signIns.add(1, "failed")
            case .codeRequired: signups.metrics.signIns.add(1, "code-required")
            default: throw error
            }
            await waitForFailure(since: start)
            throw error
        }
    }

    /// Waits until ``failureTime`` after the start, but at most until the deadline of the request.
    func waitForFailure(since start: ContinuousClock.Instant) async {
        let end = start + failureTime
        try? await Task.sleep(until: min(end, Deadline.current?.instant ?? end))
    }

    /// Waits until the slowest check of an imported hash would have ended. If the deadline of the request is earlier,
    /// throws at the deadline, as such a check does.
    func outlastSlowestCheck(since began: ContinuousClock.Instant) async throws(SignInError) {
        let end = began + importedKinds.slowest
        let deadline = Deadline.current?.instant ?? end
        try? await Task.sleep(until: min(end, deadline))
        if deadline < end { throw .hashing(.rejected(.busy(wait: signups.hashing.wait(of: signups.network)))) }
    }

    /// Runs the act. If the act throws `failed` because another request has replaced the hash by a new hash of the same
    /// password, runs the act once more with the new hash.
    func withCurrent<Result>(
        _ hash: StoredPassword,
        of account: ID<Account>,
        _ password: SharedSecret,
        _ act: (StoredPassword) async throws(SignInError) -> Result
    ) async throws(SignInError) -> Result {
        do throws(SignInError) {
            return try await act(hash)
        } catch .failed {
            let stored = try await converting(to: SignInError.database) { () throws(DatabaseError) in
                try await database.read("SELECT password_hash(\(account))").only.decode(String?.self)
            }
            guard let text = stored, text != hash.rawValue, let current = StoredPassword(text),
                try await verify(password, against: current).isRight
            else { throw .failed }
            return try await act(current)
        }
    }

    /// The account of an identifier. Without an account, all values are nil or false.
    private struct Candidate {
        let id: ID<Account>?
        let hash: String?
        let isDisabled, hasAuthenticator, knowsDevice: Bool
    }

    /// Counts the attempt as a failure, and finds the account. Throws `limited`, `hashing` or `codeRequired` if the
    /// password must not be checked now.
    private func begin(
        _ identifier: SignInIdentifier,
        _ counts: FailureCounts
    ) async throws(SignInError) -> Candidate {
        let limits = signups.charges(.passwordHashesFromNetwork, of: signups.network)
        if let rejection = signups.hashing.rejection(of: signups.network) { throw .hashing(rejection) }
        let isKnown: SQL = """
            EXISTS (SELECT FROM devices WHERE account = accounts.id AND digest = \(client.device?.digest ?? []))
            """
        // Selects one row in any case, so that `password_hash` also runs if there is no account.
        let find: SQL = """
            SELECT accounts.id, password_hash(accounts.id), disabled_at IS NOT NULL,
                   EXISTS (SELECT FROM authenticators WHERE account = accounts.id),
                   \(Signups.setFlag("known_device", isKnown))
              FROM (SELECT) AS one
              LEFT JOIN identifiers ON kind = \(identifier.kind) AND value = \(identifier.value)
                                   AND reserved_until IS NULL
              LEFT JOIN accounts ON accounts.id = identifiers.account
            """
        let count = signups.count(counts, isKnown: Signups.flag("known_device"), when: Signups.isWithinLimits)
        let (candidate, exceeded, isTooMany) = try await converting(to: SignInError.database) {
            () throws(DatabaseError) in
            let rows = try await database.transaction(
                [signups.consume(limits), find] + count + ["SELECT \(Signups.hasTooManyFailures)"]
            )
            var columns = try rows[1].only.columns
            let candidate = Candidate(
                id: try columns.next(),
                hash: try columns.next(),
                isDisabled: try columns.next(),
                hasAuthenticator: try columns.next(),
                knowsDevice: try columns.next(String.self) == "true"
            )
            return (
                candidate, try signups.exceeded(limits, rows[0]), try rows[rows.count - 1].only.decode(Bool.self)
            )
        }
        if let exceeded { throw .limited(exceeded) }
        if isTooMany { throw .codeRequired }
        return candidate
    }

    /// Compares the password with the account's hash, or with ``dummyHash`` if there is no hash that this server can
    /// check. Returns the time when the check began, and the account's hash if the password is right.
    private func check(_ password: SharedSecret, of account: Candidate) async throws(SignInError) -> (
        hash: StoredPassword?, began: ContinuousClock.Instant
    ) {
        // If the flow does not allow to sign in with a password, every password is wrong.
        let text = flow.signIn.methods.contains(.password) ? account.hash : nil
        var stored = text.flatMap(StoredPassword.init)
        if text != nil, stored == nil { signups.metrics.signIns.add(1, "uncheckable") }
        // If this server cannot check the hash, the response must not tell that there is one.
        if let hash = stored?.argon2 {
            let pepper: Pepper?
            do throws(HashingError) { pepper = try keys.pepper(of: hash) } catch { pepper = nil }
            if pepper == nil && hash.keyID != nil || hash.parameters.memoryKiB > signups.hashing.parameters.memoryKiB {
                signups.metrics.signIns.add(1, "uncheckable")
                stored = nil
            }
        }
        let check = try await verify(password, against: stored ?? dummyHash)
        return (check.isRight ? stored : nil, check.began)
    }

    func verify(_ password: SharedSecret, against hash: StoredPassword) async throws(SignInError) -> PasswordCheck {
        do throws(HashingError) {
            return try await signups.hashing.check(
                password,
                against: hash,
                pepper: try keys.pepper(of: hash.argon2),
                for: signups.network
            )
        } catch {
            throw .hashing(error)
        }
    }

    /// Replaces an imported hash, and a hash whose cost or pepper differs from the present settings. Returns the new
    /// hash, or the old hash if it was not replaced.
    private func rehashed(_ password: SharedSecret, _ hash: StoredPassword, of account: ID<Account>)
        async
        throws(SignInError) -> StoredPassword
    {
        guard hash.needsRehash(for: signups.hashing.parameters, with: keys.pepper),
            let new = try? await signups.hashing.hash(password, pepper: keys.pepper, for: signups.network)
        else { return hash }
        return try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let isReplaced = try await database.transaction(
                "SELECT replace_password(\(account), \(hash.rawValue), \(new.rawValue))"
            )[0].only.decode(Bool.self)
            return isReplaced ? StoredPassword(new) : hash
        }
    }

    /// Starts the session, or stores a sign-in that waits for the second factor. Throws `failed` if, in the meantime,
    /// the password has changed, the account was disabled, or it got an authenticator.
    private func finish(
        _ account: ID<Account>,
        _ candidate: Candidate,
        _ hash: StoredPassword,
        _ isKept: Bool,
        _ counts: FailureCounts,
        _ replaced: Token<AccountSession>?
    ) async throws(SignInError) -> SignInProgress {
        let isRight = Signups.flag("is_right")
        let check: SQL = "SELECT \(Signups.setFlag("is_right", "has_password(\(account), \(hash.rawValue))"))"
        let statements = [check] + signups.forgive(counts, isKnown: candidate.knowsDevice, when: isRight)
        if candidate.hasAuthenticator {
            return try await waitForSecondFactor(
                of: account,
                .password,
                after: statements,
                when: isRight,
                replacing: replaced
            )
        }
        return .session(
            try await start(
                .aal1,
                .password,
                isKept: isKept,
                of: account,
                after: statements,
                when: isRight,
                replacing: replaced
            )
        )
    }
}

extension Sessions {
    /// Runs the statements. Afterwards, starts a session of the account if the condition is true, the account is not
    /// disabled and, for a session with one factor, it has no authenticator. Otherwise throws `failed`.
    ///
    /// The transaction first locks the account. So a change of its credentials takes effect either before this
    /// transaction, whose conditions then see the change, or after it, and then the change also ends this session.
    func start(
        _ assurance: Assurance,
        _ methods: SignInMethods,
        isKept: Bool = false,
        of account: ID<Account>,
        on known: DeviceToken? = nil,
        after statements: [SQL],
        when condition: SQL,
        replacing replaced: Token<AccountSession>? = nil
    ) async throws(SignInError) -> NewSession {
        let token = Token(for: ID<AccountSession>())
        let device = known ?? device
        let isKept = isKept && assurance == .aal1
        let mayStart: SQL = """
            \(condition) AND EXISTS (SELECT FROM accounts WHERE id = \(account) AND disabled_at IS NULL)
            AND (\(assurance == .aal2) OR NOT EXISTS (SELECT FROM authenticators WHERE account = \(account)))
            """
        let setMayStart: SQL = "SELECT \(Signups.setFlag("may_start", mayStart))"
        let isStarting = Signups.flag("may_start")
        let owner = Self.usable(account, when: isStarting)
        let insert = signups.insertSession(
            token.id,
            tokenHash: token.hash,
            of: owner,
            assurance,
            methods,
            isKept: isKept,
            browser: client.browser
        )
        let row = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let before = [Self.lock(account)] + statements + [setMayStart] + Self.end(replaced, when: isStarting)
            let after = [
                signups.endExcessSessions(of: account, when: isStarting), signups.noteFirstSignIn(to: owner),
                Signups.select(token.id),
            ]
            let rows = try await database.transaction(
                before + [insert] + signups.remember(device, of: owner) + after
            )
            try signups.countFirstSignIn(rows[rows.count - 2])
            return try rows[rows.count - 1].first.map { row throws(DatabaseError) in try AccountSession(row) }
        }
        guard let session = row else { throw .failed }
        return NewSession(session: session, token: token, device: device)
    }

    /// Runs the statements. Stores a sign-in that waits for the second factor if the condition is true afterwards and
    /// the account is not disabled; otherwise throws `failed`.
    ///
    /// - Parameter device: a device token that the account knows from then on, and that the client must store; nil for
    ///   none.
    func waitForSecondFactor(
        of account: ID<Account>,
        _ methods: SignInMethods,
        after statements: [SQL],
        when condition: SQL,
        knowing device: DeviceToken? = nil,
        replacing replaced: Token<AccountSession>? = nil
    ) async throws(SignInError) -> SignInProgress {
        let token = Token(for: ID<PendingSignIn>())
        let insert: SQL = """
            INSERT INTO sign_ins (id, token_hash, awaits, account, methods, expires_at)
            SELECT \(token.id), \(token.hash), 'second-factor', id, \(methods.text),
                   now() + make_interval(secs => \(PendingSignIn.lifetime.seconds))
              FROM \(Self.usable(account, when: condition))
            RETURNING 1
            """
        let remember = device.map { signups.remember($0, of: Self.usable(account, when: condition)) } ?? []
        // If the sign-in is not stored, for example because the account is disabled, the client keeps its session.
        let rest = remember + Self.end(replaced, when: "EXISTS (SELECT FROM sign_ins WHERE id = \(token.id))")
        let isStored = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await !database.transaction([Self.lock(account)] + statements + [insert] + rest)[statements.count + 1]
                .isEmpty
        }
        guard isStored else { throw .failed }
        return .pending(PendingSignIn(token: token, awaits: .secondFactor, device: device))
    }

    /// Returns the statement that ends the session of the token if the condition is true; an empty list without a
    /// token.
    static func end(_ replaced: Token<AccountSession>?, when condition: SQL) -> [SQL] {
        replaced.map { ["DELETE FROM sessions WHERE \(has($0)) AND \(condition)"] } ?? []
    }

    /// Returns a statement that locks the account. A change of the account's credentials waits until this transaction
    /// ends, or is complete before the next statement of this transaction runs.
    static func lock(_ account: ID<Account>) -> SQL { "SELECT 1 FROM accounts WHERE id = \(account) FOR KEY SHARE" }

    /// Returns a subquery named `account`, of one row with the column `id`. The subquery has no row if the account does
    /// not exist or is disabled, or if the condition is false.
    static func usable(_ account: ID<Account>, when condition: SQL) -> SQL {
        "(SELECT id FROM accounts WHERE id = \(account) AND disabled_at IS NULL AND \(condition)) AS account"
    }

    /// Returns the condition that a row of a table with the columns `id` and `token_hash`, such as `sessions`, belongs
    /// to the token.
    static func has<Owner>(_ token: Token<Owner>) -> SQL { "id = \(token.id) AND token_hash = \(token.hash)" }
}
