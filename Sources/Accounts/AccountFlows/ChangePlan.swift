/// The parts of a commit that changes an account, instead of making one.
extension CommitPlan {
    /// The first statement. No other transaction can change what protects the account until this one ends.
    var lockAccount: SQL { "SELECT \(Account.columns) FROM accounts WHERE id = \(account) FOR UPDATE" }

    /// Stores whether the draft is at the revision that was validated, and the account as the draft supposes it.
    var rememberPossible: SQL {
        let isPossible: SQL = conditions.reduce(signups.exists(draft)) { "\($0) AND \($1)" }
        return "SELECT \(Signups.setFlag("prepared", "\(isPossible) AND \(isAccountUnchanged)"))"
    }

    /// Whether the account can be used, and is as the draft supposes.
    var isAccountUnchanged: SQL {
        accountConditions.reduce(
            "EXISTS (SELECT FROM accounts WHERE id = \(account) AND disabled_at IS NULL)"
        ) { "\($0) AND \($1)" as SQL }
    }

    /// The statements that follow those of the fields: whoever has used the account until now must sign in again.
    var endings: [SQL] {
        switch signups.flow.purpose {
        case .signup: []
        case .recovery, .emailChange:
            ["sessions", "sign_ins", "devices"].map { table in
                "DELETE FROM \(SQL(stringLiteral: table)) WHERE account IN (SELECT id FROM \(owner))"
            }
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
    /// Ends the draft if its account is not as the draft supposes any more. Returns whether it has ended.
    func endIfImpossible(_ plan: CommitPlan) async throws(CommitError) -> Bool {
        if flow.purpose == .signup { return false }
        let draft = plan.draft
        let end = end(
            in: table(of: draft.id),
            where: """
                id = \(draft.id) AND revision = \(draft.revision) AND account_id IS NULL
                AND NOT (\(plan.isAccountUnchanged))
                """,
            as: .superseded
        )
        return try await converting(to: CommitError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction([lock(draft), end] + Self.deleteBelongings)
            return try countEnded(rows[1], as: .superseded)
        }
    }
}
