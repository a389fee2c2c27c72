/// The parts of a commit that changes an account, instead of making one.
extension CommitPlan {
    /// The first statement. No other transaction can change what protects the account until this one ends.
    var lockAccount: SQL { "SELECT \(Account.columns) FROM accounts WHERE id = \(account) FOR UPDATE" }

    /// A sign-out waits, so that the session still exists when it gets its new token.
    var lockSession: SQL { "SELECT 1 FROM sessions WHERE id = \(draft.values.subject?.session) FOR UPDATE" }

    /// Stores whether the draft is at the revision that was validated, the account as the draft supposes it, and the new
    /// address free.
    var rememberPossible: SQL {
        let conditions = signups.flow.purpose == .emailChange ? conditions + [areIdentifiersFree] : conditions
        let isPossible: SQL = conditions.reduce(signups.exists(draft)) { "\($0) AND \($1)" }
        return "SELECT \(Signups.setFlag("prepared", "\(isPossible) AND \(isAccountUnchanged)"))"
    }

    /// Whether the account can be used, and is as the draft supposes.
    private var isAccountUnchanged: SQL {
        accountConditions.reduce(Signups.isUsable(draft.values.subject)) { "\($0) AND \($1)" as SQL }
    }

    /// The statements that follow those of the fields: everybody else who has used the account must sign in again.
    var endings: [SQL] {
        switch signups.flow.purpose {
        case .signup: []
        case .recovery: [outdateOthers] + end(["sessions": "true", "sign_ins": "true", "devices": "true"])
        case .emailChange:
            [outdateOthers]
                + end([
                    "sessions": "id <> \(draft.values.subject?.session)", "sign_ins": "true",
                    "devices": "digest <> \(session?.client.client.device?.digest ?? [])",
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

    /// The mail about the commit.
    var notice: String {
        switch signups.flow.purpose {
        case .signup: "account-created"
        case .recovery: AccountNotice.passwordChanged.rawValue
        case .emailChange: AccountNotice.addressChanged.rawValue
        }
    }
}

extension Signups {
    /// Whether the account can be used, and has the credentials that it had when the draft got to know it.
    static func isUsable(_ subject: Values.Subject?) -> SQL {
        """
        EXISTS (SELECT FROM accounts WHERE id = \(subject?.account) AND disabled_at IS NULL
                   AND credentials_version = \(subject?.credentialsVersion))
        """
    }

    /// Ends the draft if its account is not as the draft supposes any more. Returns whether it has ended.
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

    /// Makes every other draft about the account useless, if the condition is true.
    static func outdateDrafts(of account: ID<Account>, when condition: SQL) -> SQL {
        """
        UPDATE accounts SET credentials_version = credentials_version + 1 WHERE id = \(account) AND \(condition)
        """
    }
}
