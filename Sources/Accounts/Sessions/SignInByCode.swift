internal import Foundation

/// Sign-in with a code that is mailed to the address of the account. If the flow allows this method, the code counts as
/// one factor. In any case, the code makes the device known to the account, so that guesses of strangers do not lock
/// out the owner.
extension Sessions {
    /// Mails a code to the account with that identifier.
    ///
    /// If no account has the identifier, or the account is disabled or has no address, no mail is sent and every code
    /// is wrong. Everything else is the same.
    ///
    /// - Parameter replaced: the present session of this client, which ends unless a rate limit is exceeded.
    package func mailCode(
        to identifier: SignInIdentifier,
        in language: Language,
        replacing replaced: Token<AccountSession>? = nil
    ) async throws(SignInError) -> PendingSignIn {
        let start = ContinuousClock.now
        let owner = try await owner(of: identifier)
        let pending = try await mailCode(
            to: owner?.account,
            owner?.address ?? Self.named(by: identifier),
            typed: identifier,
            charging: mailCharges(to: identifier),
            when: Signups.isWithinLimits,
            in: language,
            replacing: replaced
        )
        await waitForFailure(since: start)
        return pending
    }

    /// Returns the typed address or, for a username, an address in the domain `username.invalid`, which nobody can have.
    /// The outbox orders the mail by this address instead of the account's, so that the order of delivery does not tell
    /// which address belongs to a username. The mail itself goes only to the address of the account.
    private static func named(by identifier: SignInIdentifier) -> EmailAddress {
        identifier.address ?? EmailAddress("\(identifier.value)@username.invalid")
            ?? EmailAddress("nobody@username.invalid")!
    }

    private func owner(of identifier: SignInIdentifier) async throws(SignInError) -> (
        account: ID<Account>, address: EmailAddress
    )? {
        let row = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await database.read(
                """
                SELECT accounts.id, email FROM identifiers JOIN accounts ON accounts.id = account
                 WHERE kind = \(identifier.kind) AND value = \(identifier.value) AND reserved_until IS NULL
                   AND disabled_at IS NULL
                """
            ).first?.decode(ID<Account>.self, String?.self)
        }
        guard let (account, email) = row, let address = email.flatMap({ EmailAddress($0) }) else { return nil }
        return (account, address)
    }

    /// Returns the limits of the mail. Those that do not apply to all addresses together are counted by the typed
    /// identifier, and separately from the limits of sign-ups. If a username shared the counts of an address, they
    /// would tell whether both belong to one account. If a sign-in shared the counts of sign-ups, a stranger could use
    /// them up by sign-ups. The mails of sign-ups contain no ``Ticket`` for a sign-in, so the owner of the address
    /// could then get no code.
    private func mailCharges(to identifier: SignInIdentifier) -> [Charge] {
        let (typed, site) = (identifier.bytes, signups.network.site.prefix)
        return [
            signups.charge(.resend, Limit(1, per: .seconds(60)), [typed, site]),
            signups.charge(.mailsToAddressFromNetwork, typed, site),
            signups.charge(.mailsToAddressFromNetworkPerDay, typed, site),
            signups.charge(.mailsToAddress, typed),
        ] + signups.mailChargesForAnyAddress
    }

    /// Stores a sign-in that waits for a code, and the mail with the code.
    ///
    /// - Parameters:
    ///   - account: the account of the address; nil if there is none. Then no mail is sent.
    ///   - typed: the identifier by which wrong codes are counted; nil if the code was mailed in exchange for a ticket.
    ///   - ticket: the statement that redeems the ticket; empty without a ticket.
    func mailCode(
        to account: ID<Account>?,
        _ address: EmailAddress,
        typed: SignInIdentifier?,
        charging limits: [Charge],
        redeeming ticket: [SQL] = [],
        when condition: SQL,
        in language: Language,
        replacing replaced: Token<AccountSession>?
    ) async throws(SignInError) -> PendingSignIn {
        let token = Token(for: ID<PendingSignIn>())
        let digits = Signups.randomDigits(count: Self.digits)
        let (mailTicket, lifetime) = (Ticket(), PendingSignIn.lifetime.seconds)
        let mail = signups.outbox.seal(
            .init(
                to: address.rawValue,
                language: language,
                code: (digits, lifetime / 60),
                ticket: mailTicket.text
            ),
            from: signups.network,
            at: Date(),
            for: typed.map(Self.named)
        )
        let codeDigest = codeDigests(digits, for: token.id)[0]
        // The account may have got another address, or may have been disabled, since it was read.
        let isOwner: SQL = """
            EXISTS (SELECT FROM accounts WHERE id = \(account) AND email = \(address.rawValue) AND disabled_at IS NULL)
            """
        let sealed = typed.map { keys.seal($0.bytes, for: .signIn(token.id)) }
        let statements: [SQL] =
            [
                """
                INSERT INTO sign_ins (id, token_hash, awaits, account, methods, code_digest, sealed, expires_at)
                SELECT \(token.id), \(token.hash), 'code', \(account), \(SignInMethods.mailedCode.text),
                       CASE WHEN \(isOwner) THEN \(codeDigest) END,
                       \(sealed), now() + make_interval(secs => \(lifetime))
                 WHERE \(condition)
                RETURNING 1
                """,
                """
                INSERT INTO outbox (id, account, network, recipient, turn, template, sealed, useless_after)
                SELECT \(mail.id), \(account), \(mail.networkDigest), \(mail.recipientDigest),
                       mail_turn(\(mail.networkDigest)),
                       CASE WHEN \(isOwner) THEN \(CodeMail.signIn.rawValue) ELSE 'withheld' END, \(mail.sealed),
                       now() + make_interval(secs => \(Ticket.lifetime.seconds))
                 WHERE \(condition)
                """,
                signups.store(mailTicket, of: Self.ticketField, for: address, when: condition),
            ] + Self.end(replaced, when: condition)
        let (isStored, exceeded) = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                [signups.consume(limits), Self.lock(account ?? ID())] + ticket + statements
            )
            return (!rows[2 + ticket.count].isEmpty, try signups.exceeded(limits, rows[0]))
        }
        if let exceeded { throw .limited(exceeded) }
        guard isStored else { throw .ticketExpired }
        signups.outbox.wakeSender()
        return PendingSignIn(token: token, awaits: .code)
    }

    /// The name of the field that a ticket for a sign-in code belongs to. No field of a flow can have this name.
    static let ticketField: FieldName = "session/code"
    package static let digits = 6

    private func codeDigests(_ digits: String, for signIn: ID<PendingSignIn>) -> [[UInt8]] {
        keys.digests(Array("sign-in code".utf8), signIn.bytes, Array(digits.utf8))
    }
}

extension Sessions {
    /// Checks a mailed code. If the flow allows to sign in with a code, it counts as one factor: the result is a
    /// session, or a sign-in that waits for the second factor. Otherwise the account only knows the device from then
    /// on.
    ///
    /// Throws `refused` for a wrong code. After ``PendingSignIn/maximumAttempts`` wrong codes the person needs another
    /// code.
    package func enterCode(
        _ digits: String,
        for token: Token<PendingSignIn>
    ) async throws(SignInError) -> SignInProgress {
        let pending = try await pendingCode(token)
        let counts = pending.typed.map { signups.failureCounts("mailed code", $0, nil) }
        let (attempts, digest) = try await spend(on: token, counts)
        guard let digest, let account = pending.account,
            codeDigests(digits, for: token.id).contains(where: { $0.equalsInConstantTime(digest) })
        else { throw Self.wrong(attemptsLeft: PendingSignIn.maximumAttempts - attempts, isFinal: false) }
        let isRight = Signups.flag("is_right")
        let delete: SQL = """
            DELETE FROM sign_ins WHERE \(Self.has(token)) RETURNING \(Signups.setFlag("is_right", "true"))
            """
        let statements = [delete] + (counts.map { signups.forgive($0, isKnown: false, when: isRight) } ?? [])
        // The client gets a new device token, because its present one may have too many failures.
        let device = DeviceToken()
        do throws(SignInError) {
            guard flow.signIn.methods.contains(.code) else {
                return try await .deviceKnown(know(device, by: account, after: statements, when: isRight))
            }
            if pending.hasAuthenticator {
                return try await waitForSecondFactor(
                    of: account,
                    .mailedCode,
                    after: statements,
                    when: isRight,
                    knowing: device
                )
            }
            return try await .session(
                start(.aal1, .mailedCode, of: account, on: device, after: statements, when: isRight)
            )
        } catch .failed {
            throw .noSession
        }
    }

    private struct PendingCode {
        let account: ID<Account>?
        let typed: [UInt8]?
        let hasAuthenticator: Bool
    }

    private func pendingCode(_ token: Token<PendingSignIn>) async throws(SignInError) -> PendingCode {
        let row = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await database.read(
                """
                SELECT account, sealed, EXISTS (SELECT FROM authenticators WHERE account = sign_ins.account)
                  FROM sign_ins WHERE \(Self.has(token)) AND awaits = 'code' AND now() < expires_at
                """
            ).first?.decode(ID<Account>?.self, [UInt8]?.self, Bool.self)
        }
        guard let (account, sealed, hasAuthenticator) = row else { throw .noSession }
        guard let sealed else {
            return PendingCode(account: account, typed: nil, hasAuthenticator: hasAuthenticator)
        }
        guard let typed = try? keys.open(sealed, for: .signIn(token.id)) else { throw .unreadable(.signIn(token.id)) }
        return PendingCode(account: account, typed: typed, hasAuthenticator: hasAuthenticator)
    }

    /// Counts the attempt before the code is compared. Returns the number of attempts, and the digest of the right
    /// code; nil if no code is right.
    ///
    /// - Parameter counts: nil if the code was mailed in exchange for a ticket.
    private func spend(
        on token: Token<PendingSignIn>,
        _ counts: FailureCounts?
    ) async throws(SignInError) -> (attempts: Int, digest: [UInt8]?) {
        let spend: SQL = """
            UPDATE sign_ins SET attempts = attempts + 1
             WHERE \(Self.has(token)) AND attempts < \(PendingSignIn.maximumAttempts)
            RETURNING attempts, code_digest, \(Signups.setFlag("spent", "true"))
            """
        let count = counts.map { signups.count($0, isKnown: "false", when: Signups.flag("spent")) } ?? []
        let (spent, isTooMany) = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction([spend] + count + ["SELECT \(Signups.hasTooManyFailures)"])
            return (
                try rows[0].first?.decode(Int.self, [UInt8]?.self, String.self),
                try rows[rows.count - 1].only.decode(Bool.self)
            )
        }
        guard let (attempts, digest, _) = spent, !isTooMany else { throw Self.wrong(attemptsLeft: 0, isFinal: false) }
        return (attempts, digest)
    }

    private func know(
        _ device: DeviceToken,
        by account: ID<Account>,
        after statements: [SQL],
        when condition: SQL
    ) async throws(SignInError) -> DeviceToken {
        let remember = signups.remember(device, of: Self.usable(account, when: condition))
        let isKnown = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await !database.transaction(
                [Self.lock(account)] + statements + remember
            )[statements.count + 1].isEmpty
        }
        guard isKnown else { throw .failed }
        return device
    }
}

extension Sessions {
    /// Mails another code in exchange for the ticket in a mail with a code. The limits that strangers can use up for
    /// the address do not apply.
    ///
    /// - Parameter replaced: the present session of this client, which ends if the ticket is exchanged.
    package func mailCode(
        for ticket: Ticket,
        in language: Language,
        replacing replaced: Token<AccountSession>? = nil
    ) async throws(SignInError) -> PendingSignIn {
        let holder: (address: EmailAddress, field: FieldName)?
        do throws(RedeemError) { holder = try await signups.holder(of: ticket) } catch {
            switch error {
            case .unreadable(let ticket): throw .unreadable(.ticket(ticket))
            case .database(let error): throw .database(error)
            case .limited(let reached): throw .limited(reached)
            case .invalidTicket, .find: throw .ticketExpired
            }
        }
        guard let holder, holder.field == Self.ticketField else { throw .ticketExpired }
        let owner = try await owner(of: SignInIdentifier(holder.address.rawValue))
        return try await mailCode(
            to: owner?.account,
            holder.address,
            typed: nil,
            charging: signups.mailChargesForAnyAddress + [signups.mailsByTicket(to: holder.address)],
            redeeming: [signups.redeem(ticket)],
            when: Signups.isRedeemed,
            in: language,
            replacing: replaced
        )
    }
}
