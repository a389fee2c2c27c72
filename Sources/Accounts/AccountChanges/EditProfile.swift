internal import Foundation

/// Changes of the values that a flow lets people change (``Flow/editableSteps``).
extension Sessions {
    /// The values of the account as a draft, which is not stored, for the forms of its steps.
    package func draft(of session: AccountSession, in language: Language) -> Draft {
        var (draft, _) = signups.newDraft(with: Values(of: session.account, in: flow), in: language)
        draft.now = session.now
        return draft
    }

    /// Replaces the values of one step, judged by the kinds of its fields. Another username moves the identifier, and the
    /// address of the account is told.
    ///
    /// Throws `refused` with everything that is wrong with the answers.
    ///
    /// - Parameter step: one of ``Flow/editableSteps``.
    package func edit(
        _ answers: Answers,
        in step: Step,
        of session: AccountSession,
        in language: Language
    ) async throws(SignInError) -> Account {
        let (values, _, refusals) = signups.validate(answers, to: step, of: draft(of: session, in: language))
        let isSkipped = step.isOptional && answers.members.allSatisfy { $0.answer.isBlank }
        guard refusals.isEmpty || isSkipped else { throw .refused(refusals) }
        let (rename, charges) = rename(in: step, to: values, of: session.account)
        let mayChange: SQL = """
            EXISTS (SELECT FROM sessions JOIN accounts ON accounts.id = account
                     WHERE sessions.id = \(session.id) AND token_hash = \(session.tokenHash) AND now() < ends_at
                       AND disabled_at IS NULL)
            """
        let notice =
            charges.isEmpty
            ? [] : mail(about: .usernameChanged, to: session.account, in: language, when: Signups.flag("changed"))
        let (account, exceeded, isTaken) = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                [
                    Self.lockForChange(session.account.id),
                    "SELECT \(Signups.setFlag("may_change", mayChange))",
                    signups.consume(charges, when: Self.mayChange),
                    """
                    SELECT \(Signups.setFlag("changed", rename)) WHERE \(Self.mayChange) AND \(Signups.isWithinLimits)
                    """,
                    update(session.account.id, step, to: values),
                ] + notice
            )
            let account = try rows[4].first.map { row throws(DatabaseError) in try Account(session.account.id, row) }
            return (account, try signups.exceeded(charges, rows[2]), !rows[3].isEmpty)
        }
        if let exceeded { throw .limited(exceeded) }
        if let account {
            signups.outbox.wakeSender()
            return account
        }
        guard isTaken, let field = Self.username(in: step) else { throw .noSession }
        throw .refused([Refusal(field.name, .taken)])
    }

    private static func username(in step: Step) -> Field? {
        step.fields.first { $0.isIdentifier && $0.kind is UsernameField }
    }

    /// Moves the identifier if the step has one and it changes, as SQL that is false if the name is taken, and what that
    /// costs.
    private func rename(in step: Step, to values: Values, of account: Account) -> (SQL, [Charge]) {
        guard let field = Self.username(in: step) else { return ("true", []) }
        let name = (values[field.name] as? Username)?.text
        if name == account.username { return ("true", []) }
        let isTaken = name.map { signups.isTaken($0, UsernameField.name, except: ID()) } ?? "false"
        return (
            "CASE WHEN \(isTaken) THEN false ELSE rename_account(\(account.id), \(name)) END",
            [signups.charge(.usernameChecks, account.id.bytes)]
        )
    }

    /// Replaces the members of the profile that belong to the step.
    private func update(_ account: ID<Account>, _ step: Step, to values: Values) -> SQL {
        let fields = step.fields.filter { !$0.isIdentifier }
        let names = JSON.array(fields.map { .string($0.name.rawValue) })
        let new = JSON.object(
            fields.compactMap { field in values.json(of: field.name).map { .init(field.name.rawValue, $0) } }
        )
        return """
            UPDATE accounts
               SET profile = (profile - ARRAY(SELECT jsonb_array_elements_text(\(names.text)::jsonb))) || \(new.text)::jsonb
             WHERE id = \(account) AND \(Signups.flag("changed"))
            RETURNING \(Account.columns)
            """
    }
}
