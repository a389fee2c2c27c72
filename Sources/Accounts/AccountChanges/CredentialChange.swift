internal import Foundation

extension AccountSession {
    /// Whether the person has signed in or confirmed the session in the last ten minutes, and so may change
    /// credentials.
    package var isConfirmed: Bool {
        now.timeIntervalSince(authTime) <= Double(Self.confirmationTime.seconds)
    }
}

/// Changes of the password, the authenticator app or the recovery codes of an account, and its erasure. Each one ends
/// all other sessions, and mails a notice to the address of the account.
extension Sessions {
    /// Throws `confirmationRequired` unless the person has signed in or confirmed the session in the last ten minutes.
    func requireConfirmation(of session: AccountSession) throws(SignInError) {
        guard session.isConfirmed else { throw .confirmationRequired }
    }

    /// Runs the statements of a change in one transaction. If they change something, the same transaction ends all
    /// other sessions, the unfinished sign-ins, and the tokens that applications got in this session; invalidates open
    /// recoveries and address changes of the account; gives this session a new token; and inserts the mail with the
    /// notice.
    ///
    /// Throws `limited` if a rate limit of the notice is exceeded, `noSession` if the session was deleted or has a new
    /// token, `confirmationRequired` if the session has expired or was not confirmed recently, and `noSuchFactor` if
    /// the statements have changed nothing.
    ///
    /// - Parameters:
    ///   - notice: the notice that is mailed to the person.
    ///   - change: statements that do nothing unless ``mayChange`` is true. They set the flag `changed` if they do
    ///     something.
    /// - Returns: the session with its new token; nil if the change has erased the session, or a sign-out ended it
    ///   during the change.
    @discardableResult
    func changeCredentials(
        of session: AccountSession,
        telling notice: AccountNotice,
        in language: Language,
        _ change: [SQL]
    ) async throws(SignInError) -> NewSession? {
        let (id, token) = (session.account.id, Token(for: session.id))
        // 15 seconds more than `requireConfirmation` permits, because the request has taken some time since that check.
        let time = AccountSession.confirmationTime + .seconds(15)
        let isSessionConfirmed: SQL = """
            EXISTS (SELECT FROM sessions JOIN accounts ON accounts.id = account
                     WHERE sessions.id = \(session.id) AND token_hash = \(session.tokenHash) AND now() < ends_at
                       AND disabled_at IS NULL
                       AND auth_time >= now() - make_interval(secs => \(time.seconds)))
            """
        // Too many notices must not keep a person from erasing the account.
        let limits = notice == .accountErased ? [] : signups.noticeCharges(to: session.account)
        let before: [SQL] = [
            signups.consume(limits),
            signups.countMail(when: "\(session.account.email != nil) AND \(Signups.isWithinLimits)"),
            Self.lockForChange(id),
            "SELECT \(Signups.setFlag("may_change", "\(isSessionConfirmed) AND \(Signups.isWithinLimits)"))",
        ]
        let hasChanged = Signups.flag("changed")
        let after: [SQL] = [
            Signups.outdateDrafts(of: id, when: hasChanged),
            "DELETE FROM sessions WHERE account = \(id) AND id <> \(session.id) AND \(hasChanged)",
            "DELETE FROM sign_ins WHERE account = \(id) AND \(hasChanged)",
            // Ends the tokens that applications got in this session, too: a thief may have copied them.
            "DELETE FROM grants WHERE session = \(session.id) AND \(hasChanged)",
            "UPDATE sessions SET token_hash = \(token.hash) WHERE id = \(session.id) AND \(hasChanged)",
        ]
        let tell = mail(about: notice, to: session.account, in: language, when: hasChanged)
        let flags: SQL = "SELECT \(Self.mayChange), \(hasChanged)"
        let (exceeded, may, changed, row) = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                before + change + after + tell + [flags, Signups.select(session.id)]
            )
            let (may, changed) = try rows[rows.count - 2].only.decode(Bool.self, Bool.self)
            let row = try rows[rows.count - 1].first.map { row throws(DatabaseError) in try AccountSession(row) }
            return (try signups.exceeded(limits, rows[0]), may, changed, row)
        }
        if let exceeded { throw .limited(exceeded) }
        guard may else { throw row?.tokenHash == session.tokenHash ? .confirmationRequired : .noSession }
        guard changed else { throw .noSuchFactor }
        signups.outbox.wakeSender()
        return row.map { NewSession(session: $0, token: token, device: nil) }
    }

    /// Locks the account until the transaction ends. Waits for sign-ins that are inserting a session; later sign-ins
    /// wait for this transaction (``lock(_:)``).
    static func lockForChange(_ account: ID<Account>) -> SQL {
        "SELECT 1 FROM accounts WHERE id = \(account) FOR UPDATE"
    }

    /// An SQL condition: the session may change the account. An earlier statement of the transaction must have set the
    /// flag `may_change`.
    static let mayChange: SQL = Signups.flag("may_change")

    /// The statement that inserts a mail to the address of the account if the condition is true; none if the account
    /// has no address.
    func mail(about notice: AccountNotice, to account: Account, in language: Language, when condition: SQL) -> [SQL] {
        account.email.map {
            [signups.mail(about: notice, on: account.id, to: $0, in: language, when: condition)]
        } ?? []
    }
}

extension Signups {
    /// The rate limits that a change of credentials consumes. The transaction consumes them before it locks the
    /// account. The transaction that mails a sign-in code uses the same order; otherwise the two could deadlock.
    func noticeCharges(to account: Account) -> [Charge] {
        [charge(.noticesToAccount, account.id.bytes)]
            + (account.email == nil ? [] : charges(.mailsFromNetwork, of: network))
    }

    /// Returns a statement that counts a mail towards the limit `mails` of all clients together, unless the limit is
    /// reached. The statement refuses nothing: an attacker who uses up the limit must not keep others from changing
    /// their credentials.
    func countMail(when condition: SQL) -> SQL {
        "SELECT 1 FROM \(take([chargeForAll(.mails)], when: condition)) AS taken"
    }

    /// The statement that inserts a mail about the account to the address if the condition is true. Inserts none if the
    /// outbox already has too many mails with this notice for the account: the maximum is the limit
    /// `notices_to_account`.
    func mail(
        about notice: AccountNotice,
        on account: ID<Account>,
        to address: String,
        in language: Language,
        when condition: SQL
    ) -> SQL {
        let mail = outbox.seal(.init(to: address, language: language, code: nil), from: network, at: Date())
        let limit = flow.limits[.noticesToAccount]
        let earlier: SQL = """
            SELECT count(*) FROM outbox WHERE account = \(account) AND template = \(notice.rawValue)
               AND created_at > now() - make_interval(secs => \(limit.period.seconds))
            """
        return """
            INSERT INTO outbox (id, account, network, recipient, turn, template, sealed, useless_after)
            SELECT \(mail.id), \(account), \(mail.networkDigest), \(mail.recipientDigest),
                   mail_turn(\(mail.networkDigest)), \(notice.rawValue), \(mail.sealed),
                   now() + interval '7 days'
             WHERE \(condition) AND (\(earlier)) < \(limit.count)
            """
    }
}
