internal import Foundation

/// Changes of the values that people may edit in their account (``Flow/editableSteps``).
extension Sessions {
    /// Returns a draft with the values of the account, with which the forms of the account are filled. The draft is not
    /// stored.
    package func draft(of session: AccountSession, in language: Language) async throws(SignInError) -> Draft {
        signups.newDraft(
            with: try await values(of: session.account),
            in: language,
            token: Token(for: ID()),
            now: session.now
        )
    }

    /// Validates the answers to one step and replaces its values. If this changes the username by which the person
    /// signs in, mails a notice to the address of the account.
    ///
    /// Throws `refused` with all refusals of the answers, or with `taken` if another account or an open draft has the
    /// new username. Throws `limited` if a rate limit is exceeded. Throws `noSession` if the session has ended, has a
    /// new token, or belongs to a disabled account.
    ///
    /// - Parameter step: one of ``Flow/editableSteps``.
    package func edit(
        _ answers: Answers,
        in step: Step,
        of session: AccountSession,
        in language: Language
    ) async throws(SignInError) -> Account {
        let draft = try await draft(of: session, in: language)
        let (values, inputs, refusals) = signups.validate(answers, to: step, of: draft)
        // Blank answers skip an optional step, so the refusals `required` of its fields do not count.
        let isSkipped = step.isOptional && step.isBlank(answers)
        guard refusals.isEmpty || isSkipped else { throw .refused(refusals) }
        return try await change(step.fields, of: session, from: draft, to: values, inputs)
    }

    /// Removes the value of one field. Throws `refused` if the step requires the field, and otherwise throws as
    /// ``edit(_:in:of:in:)`` does.
    ///
    /// - Parameter step: the step of ``Flow/editableSteps`` that has the field.
    package func remove(
        _ field: Field,
        in step: Step,
        of session: AccountSession,
        in language: Language
    ) async throws(SignInError) {
        if step.requires(field) { throw .refused([Refusal(field.name, .required)]) }
        let draft = try await draft(of: session, in: language)
        var values = draft.values
        values[field.name] = nil
        _ = try await change([field], of: session, from: draft, to: values)
    }

    private func change(
        _ fields: [Field],
        of session: AccountSession,
        from draft: Draft,
        to values: Values,
        _ inputs: [FieldName: any Sendable] = [:]
    ) async throws(SignInError) -> Account {
        var plan = EditPlan(
            signups: signups,
            account: session.account,
            language: draft.language,
            now: draft.now,
            before: draft.values,
            after: values,
            inputs: inputs
        )
        let files = fields.filter(\.kind.takesFile)
        for field in fields where !field.kind.takesFile { try await field.kind.edit(field, &plan) }
        if files.contains(where: { inputs[$0.name] != nil }) { try await consumeLimits(of: &plan) }
        for field in files { try await field.kind.edit(field, &plan) }
        return try await write(plan, of: session)
    }

    /// Consumes the limits of the plan. Throws `limited` if one of them is exceeded, and `refused` if the new
    /// identifier is taken. ``change(_:of:from:to:_:)`` calls this before it decodes an image, so that a change
    /// that must fail decodes none.
    private func consumeLimits(of plan: inout EditPlan) async throws(SignInError) {
        if plan.limits.isEmpty, plan.renaming == nil { return }
        let limits = plan.limits
        let takenCondition = plan.renaming?.takenCondition ?? "false"
        let (exceeded, isTaken) = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(signups.consume(limits), "SELECT \(takenCondition)")
            return (try signups.exceeded(limits, rows[0]), try rows[1].only.decode(Bool.self))
        }
        if let exceeded { throw .limited(exceeded) }
        if isTaken, let renaming = plan.renaming { throw .refused([Refusal(renaming.field, .taken)]) }
        plan.limits = []
    }

    /// Whether ``EditPlan/Renaming/isDone`` was true when the transaction had locked the account.
    private static let wasRenamed: SQL = Signups.flag("was_renamed")

    private func write(_ plan: EditPlan, of session: AccountSession) async throws(SignInError) -> Account {
        let isSessionValid: SQL = """
            EXISTS (SELECT FROM sessions JOIN accounts ON accounts.id = account
                     WHERE sessions.id = \(session.id) AND token_hash = \(session.tokenHash) AND now() < ends_at
                       AND disabled_at IS NULL)
            """
        let isRenamed: SQL? = plan.renaming.map {
            "CASE WHEN \(Self.wasRenamed) THEN true WHEN \($0.takenCondition) THEN false ELSE \($0.expression) END"
        }
        let setWasRenamed = Signups.setFlag("was_renamed", plan.renaming?.isDone ?? "false")
        let change = Signups.setFlag("changed", isRenamed ?? "true")
        let isNews: SQL = "\(EditPlan.isMade) AND NOT \(Self.wasRenamed)"
        let mails = plan.notices.flatMap { mail(about: $0, to: session.account, in: plan.language, when: isNews) }
        let (account, exceeded, wasAllowed) = try await converting(to: SignInError.database) {
            () throws(DatabaseError) in
            let rows = try await database.transaction(
                [
                    Self.lockForChange(session.account.id),
                    "SELECT \(Signups.setFlag("may_change", isSessionValid)), \(setWasRenamed)",
                    signups.consume(plan.limits, when: Self.mayChange),
                    "SELECT \(change) WHERE \(Self.mayChange) AND \(Signups.isWithinLimits)",
                    plan.update,
                ] + plan.statements + mails
            )
            let account = try rows[4].first.map { row throws(DatabaseError) in try Account(session.account.id, row) }
            return (account, try signups.exceeded(plan.limits, rows[2]), !rows[3].isEmpty)
        }
        if let exceeded { throw .limited(exceeded) }
        if let account {
            signups.outbox.wakeSender()
            return account
        }
        // The session and the limits permitted the change, so only a taken username can have prevented it.
        guard wasAllowed, let renaming = plan.renaming else { throw .noSession }
        throw .refused([Refusal(renaming.field, .taken)])
    }
}

extension EditPlan {
    /// The statement that updates the profile. It returns the columns of the account if the change takes effect.
    fileprivate var update: SQL {
        let names = JSON.array(profile.map { .string($0.name.rawValue) })
        let new = JSON.object(profile.compactMap { member in member.value.map { .init(member.name.rawValue, $0) } })
        return """
            UPDATE accounts
               SET profile = (profile - ARRAY(SELECT jsonb_array_elements_text(\(names.text)::jsonb))) || \(new.text)::jsonb
             WHERE id = \(account.id) AND \(Self.isMade)
            RETURNING \(Account.columns)
            """
    }
}
