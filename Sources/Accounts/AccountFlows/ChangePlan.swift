/// The parts of a commit that changes an existing account.
extension CommitPlan {
    /// The first statement about the account, which locks it and returns its columns. Every change of its password,
    /// authenticator app or address locks the same row, so such a change waits until this transaction ends.
    var lockAccount: SQL { "SELECT \(Account.columns) FROM accounts WHERE id = \(account) FOR UPDATE" }

    /// Locks the session in which the person has started the change of the address. A later sign-out waits until this
    /// transaction ends, so the session still exists when the commit gives it a new token.
    var lockSession: SQL { "SELECT 1 FROM sessions WHERE id = \(draft.values.subject?.session) FOR UPDATE" }

    /// Sets the flag `prepared`, which is true if the commit may take effect: the draft is at the revision that was
    /// validated, all ``conditions`` and ``confirmation`` are true, ``isAccountUnchanged`` is true, and the new address
    /// of an address change is neither the address of an account nor reserved for one.
    var rememberPossible: SQL {
        let conditions = signups.flow.purpose == .emailChange ? conditions + [areIdentifiersFree] : conditions
        let all = conditions + [confirmation].compactMap(\.self)
        let isPossible: SQL = all.reduce(signups.exists(draft)) { "\($0) AND \($1)" }
        return "SELECT \(Signups.setFlag("prepared", "\(isPossible) AND \(isAccountUnchanged)"))"
    }

    /// Whether the account exists, is not disabled, still has the credentials version that the draft stores, and meets
    /// ``accountConditions``.
    private var isAccountUnchanged: SQL {
        accountConditions.reduce(Signups.isUsable(draft.values.subject)) { "\($0) AND \($1)" as SQL }
    }

    /// The statements that run after ``statements``; none for a sign-up. They invalidate other drafts that change the
    /// account, end its sessions and its unfinished sign-ins, and delete its known devices. A change of the address
    /// keeps the session in which it was started, and the device on which it is committed.
    var endings: [SQL] {
        switch signups.flow.purpose {
        case .signup: []
        case .recovery: [outdateOthers] + end(["sessions": "true", "sign_ins": "true", "devices": "true"])
        case .emailChange:
            [outdateOthers]
                + end([
                    "sessions": "id <> \(draft.values.subject?.session)", "sign_ins": "true",
                    "devices": "digest <> \(session?.device.digest ?? [])",
                ])
        }
    }

    private var outdateOthers: SQL {
        Signups.outdateDrafts(of: account, when: "EXISTS (SELECT FROM \(owner))")
    }

    private func end(_ conditions: KeyValuePairs<String, SQL>) -> [SQL] {
        conditions.map { table, condition in
            "DELETE FROM \(SQL(stringLiteral: table)) WHERE account IN (SELECT id FROM \(owner)) AND \(condition)"
        }
    }

    /// The name of the template of the mail that tells the person about the commit.
    var noticeTemplate: String {
        switch signups.flow.purpose {
        case .signup: "account-created"
        case .recovery: AccountNotice.passwordChanged.rawValue
        case .emailChange: AccountNotice.addressChanged.rawValue
        }
    }
}

extension Signups {
    /// An SQL condition: the account exists, is not disabled, and still has the credentials version that the draft
    /// stores.
    static func isUsable(_ subject: Values.Subject?) -> SQL {
        """
        EXISTS (SELECT FROM accounts WHERE id = \(subject?.account) AND disabled_at IS NULL
                   AND credentials_version = \(subject?.credentialsVersion))
        """
    }

    /// Ends the draft unless ``isUsable(_:)`` and all the conditions are true for its account. Does not end a draft
    /// that has another revision by now. Returns whether this call has ended the draft; false for a sign-up.
    func endIfOutdated(_ draft: Draft, unless conditions: [SQL] = []) async throws(DatabaseError) -> Bool {
        if flow.purpose == .signup { return false }
        let isCurrent = conditions.reduce(Self.isUsable(draft.values.subject)) { "\($0) AND \($1)" as SQL }
        let end = end(
            in: table(of: draft.id),
            where: """
                id = \(draft.id) AND revision = \(draft.revision) AND account_id IS NULL AND NOT (\(isCurrent))
                """,
            as: .superseded
        )
        let rows = try await database.transaction([lock(draft), end] + Self.deleteBelongings)
        return try countEnded(rows[1], as: .superseded)
    }

    /// Returns a statement that raises the credentials version of the account if the condition is true. Drafts that
    /// store an earlier version can then no longer be committed.
    static func outdateDrafts(of account: ID<Account>, when condition: SQL) -> SQL {
        """
        UPDATE accounts SET credentials_version = credentials_version + 1 WHERE id = \(account) AND \(condition)
        """
    }
}
