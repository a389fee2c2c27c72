internal import Foundation

/// The periods and the template that a change of an account's address uses.
package enum AddressChange {
    /// The time for which the old address stays reserved, and in which its owner can undo the change.
    static let restorable = Duration.seconds(7 * 86_400)
    /// The time after a change in which the person can neither change the address again nor erase the account.
    static let pause = Duration.seconds(86_400)
    /// The name of the template of the mail to the old address.
    static let template = "address-left"
}

/// The token of the link that undoes a change of the address. The link is in the mail to the old address.
package typealias AddressToken = Token<LeftAddress>

/// Serves only as a type parameter: `ID<LeftAddress>` is the id of a row of `address_changes`.
package enum LeftAddress {}

extension Signups {
    /// Starts a draft that changes the address of the session's account. Throws `limited` if the address changed less
    /// than a day ago, or if the network has started too many drafts.
    ///
    /// The caller has checked that the session was confirmed recently (``AccountSession/isConfirmed``).
    package func startChange(
        by session: AccountSession,
        in language: Language,
        by form: FirstForm = FirstForm()
    ) async throws(StartError) -> (draft: Draft, token: Token<Draft>) {
        let account = session.account.id
        let version = try await converting(to: StartError.database) { () throws(DatabaseError) in
            try await database.read("SELECT credentials_version FROM accounts WHERE id = \(account)").first?
                .decode(Int.self)
        }
        let wait = try await converting(to: StartError.database) { () throws(DatabaseError) in
            try await waitAfterMove(of: account)
        }
        if let wait { throw .limited(refused(by: wait)) }
        var values = Values()
        values.subject = Values.Subject(account: account, credentialsVersion: version ?? -1, session: session.id)
        return try await start(by: form, with: values, in: language)
    }

    /// Whether this is the present address of the account that the draft changes; false if the draft does not change an
    /// address.
    func isCurrentAddress(_ address: EmailAddress, in draft: Draft) async throws(SubmitError) -> Bool {
        guard flow.purpose == .emailChange, let account = draft.values.subject?.account else { return false }
        let select: SQL = "SELECT 1 FROM accounts WHERE id = \(account) AND email = \(address.rawValue)"
        return try await converting(to: SubmitError.database) { () throws(DatabaseError) in
            try await !database.read(select).isEmpty
        }
    }

    /// The time until the person may change the address again or erase the account; nil if both are allowed now. A caller
    /// that refuses a request because of this wait passes it to ``refused(by:)``, which counts the refusal.
    package func waitAfterMove(of account: ID<Account>) async throws(DatabaseError) -> LimitReached? {
        let (limit, pause) = (Limit(1, per: AddressChange.pause), AddressChange.pause.seconds)
        let row = try await database.read(
            """
            SELECT ceil(extract(epoch FROM max(changed_at) - now()))::bigint + \(pause)::bigint FROM address_changes
             WHERE account = \(account) AND changed_at > now() - make_interval(secs => \(pause))
            """
        ).only.decode(Int?.self)
        return row.map {
            LimitReached(name: Limits.OtherName.addressChanges.rawValue, limit: limit, wait: .seconds(max(1, $0)))
        }
    }
}

extension Signups {
    /// Adds to the plan the conditions and statements that move the account to the address that the draft has proved.
    /// Does nothing for a draft that does not change the address.
    func addMove(to plan: inout CommitPlan) async throws(CommitError) {
        guard flow.purpose == .emailChange, let subject = plan.draft.values.subject, let session = subject.session,
            let new = plan.email
        else { return }
        let account = plan.account
        let found = try await converting(to: CommitError.database) { () throws(DatabaseError) in
            try await database.read("SELECT email, locale FROM accounts WHERE id = \(account)").first?
                .decode(String?.self, String.self)
        }
        // If the account was erased or has no valid address, the draft can never be committed.
        guard let (email, locale) = found, let old = email.flatMap({ EmailAddress($0) }) else {
            plan.accountConditions.append("false")
            return
        }
        // The draft starts at most 10 minutes after the confirmation, and lives 60 minutes. 10 more are a margin. If an
        // operator has extended the draft, the confirmation may be too old.
        plan.confirmation = """
            EXISTS (SELECT FROM sessions WHERE id = \(session) AND auth_time > now() - interval '80 minutes')
            """
        plan.accountConditions += [
            "EXISTS (SELECT FROM sessions WHERE id = \(session) AND account = \(account) AND now() < ends_at)",
            """
            NOT EXISTS (SELECT FROM address_changes WHERE account = \(account)
                           AND changed_at > now() - make_interval(secs => \(AddressChange.pause.seconds)))
            """,
        ]
        let token = AddressToken(for: ID<LeftAddress>())
        let language = flow.languages[locale] ?? plan.draft.language
        let days = AddressChange.restorable.seconds / 86_400
        let mail = outbox.seal(
            .init(to: old.rawValue, language: language, code: (token.text, days * 1440)),
            from: network,
            at: plan.draft.now
        )
        let until: SQL = "now() + make_interval(secs => \(AddressChange.restorable.seconds))"
        plan.statements += [
            "SELECT move_address(id, \(new.rawValue), \(until)) FROM \(plan.owner)",
            """
            INSERT INTO address_changes (id, account, token_hash, sealed, expires_at)
            SELECT \(token.id), id, \(token.hash), \(keys.seal(Array(old.rawValue.utf8), for: .leftAddress(token.id))),
                   \(until)
              FROM \(plan.owner)
            """,
            """
            INSERT INTO outbox (id, draft, account, network, recipient, turn, template, sealed, useless_after)
            SELECT \(mail.id), \(plan.draft.id), id, \(mail.networkDigest), \(mail.recipientDigest),
                   mail_turn(\(mail.networkDigest)),
                   \(AddressChange.template), \(mail.sealed), \(until) FROM \(plan.owner)
            """,
        ]
    }
}

extension SealedPlace {
    static func leftAddress(_ id: ID<LeftAddress>) -> SealedPlace {
        SealedPlace(table: "address_changes", row: id.bytes)
    }
}
