internal import Foundation

extension AccountSession {
    /// Whether the person has proved recently enough who they are to change what protects the account.
    package var isConfirmed: Bool {
        now.timeIntervalSince(authTime) <= Double(Self.confirmationTime.seconds)
    }
}

/// A change of what protects an account: it ends all other sessions, and the address of the account is told.
extension Sessions {
    /// Throws `confirmationRequired` unless the session was confirmed in the last ten minutes.
    func requireConfirmation(of session: AccountSession) throws(SignInError) {
        guard session.isConfirmed else { throw .confirmationRequired }
    }

    /// Runs the change in one transaction: only if the session still exists and was confirmed, and together with the end
    /// of the other sessions, a new token for this one, and the mail.
    ///
    /// Throws `noSuchFactor` if the change has not taken effect.
    ///
    /// - Parameters:
    ///   - notice: the mail that tells the person.
    ///   - change: statements that do something only if ``mayChange`` is true, and set the flag `changed` if they have.
    /// - Returns: the session with its new token; nil if the change has erased it.
    @discardableResult
    func changeCredentials(
        of session: AccountSession,
        telling notice: AccountNotice,
        in language: Language,
        _ change: [SQL]
    ) async throws(SignInError) -> NewSession? {
        let (id, token) = (session.account.id, Token(for: session.id))
        // A little longer than the request may have taken since its first check.
        let time = AccountSession.confirmationTime + .seconds(15)
        let mayChange: SQL = """
            EXISTS (SELECT FROM sessions JOIN accounts ON accounts.id = account
                     WHERE sessions.id = \(session.id) AND token_hash = \(session.tokenHash) AND now() < ends_at
                       AND disabled_at IS NULL
                       AND auth_time >= now() - make_interval(secs => \(time.seconds)))
            """
        let before: [SQL] = [
            Self.lockForChange(id),
            "SELECT \(Signups.setFlag("may_change", mayChange))",
        ]
        let hasChanged = Signups.flag("changed")
        let after: [SQL] = [
            Signups.outdateDrafts(of: id, when: hasChanged),
            "DELETE FROM sessions WHERE account = \(id) AND id <> \(session.id) AND \(hasChanged)",
            "DELETE FROM sign_ins WHERE account = \(id) AND \(hasChanged)",
            // What applications hold of this session, too: a thief may have copied it.
            "DELETE FROM grants WHERE session = \(session.id) AND \(hasChanged)",
            "UPDATE sessions SET token_hash = \(token.hash) WHERE id = \(session.id) AND \(hasChanged)",
        ]
        let tell = mail(about: notice, to: session.account, in: language, when: hasChanged)
        let flags: SQL = "SELECT \(Self.mayChange), \(hasChanged)"
        let (may, changed, row) = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                before + change + after + tell + [flags, Signups.select(session.id)]
            )
            let (may, changed) = try rows[rows.count - 2].only.decode(Bool.self, Bool.self)
            let row = try rows[rows.count - 1].first.map { row throws(DatabaseError) in try AccountSession(row) }
            return (may, changed, row)
        }
        guard may else { throw row?.tokenHash == session.tokenHash ? .confirmationRequired : .noSession }
        guard changed else { throw .noSuchFactor }
        signups.outbox.wakeSender()
        return row.map { NewSession(session: $0, token: token, device: nil) }
    }

    /// Waits for sign-ins that are inserting a session, and keeps others from doing so (``lock(_:)``).
    static func lockForChange(_ account: ID<Account>) -> SQL {
        "SELECT 1 FROM accounts WHERE id = \(account) FOR UPDATE"
    }

    /// Whether the session may change the account, as SQL.
    static let mayChange: SQL = Signups.flag("may_change")

    /// Inserts a mail to the address of the account; none if the account has no address.
    func mail(about notice: AccountNotice, to account: Account, in language: Language, when condition: SQL) -> [SQL] {
        account.email.map { [signups.mail(about: notice, to: $0, in: language, when: condition)] } ?? []
    }
}

extension Signups {
    func mail(about notice: AccountNotice, to address: String, in language: Language, when condition: SQL) -> SQL {
        let mail = outbox.seal(.init(to: address, language: language, code: nil), from: network, on: Date())
        return """
            INSERT INTO outbox (id, network, recipient, turn, template, sealed, useless_after)
            SELECT \(mail.id), \(mail.network), \(mail.recipient), mail_turn(\(mail.network)), \(notice.rawValue), \(mail.sealed),
                   now() + interval '7 days'
             WHERE \(condition)
            """
    }
}
