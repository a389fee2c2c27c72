/// The members of ``FieldActs`` that a username needs.
extension UsernameField {
    package static var draftTables: [String] { ["leases"] }

    /// If the field is an identifier, reserves the name for the draft (``LeaseRequest``) and releases the other
    /// usernames of the draft.
    package func submit(_ field: Field, _ submission: inout Submission) async throws(SubmitError) {
        guard field.isIdentifier else { return }
        let (signups, draft) = (submission.signups, submission.draft)
        guard let name = value(in: submission.change.values, of: field.name)?.text else {
            submission.change.effects.append(Effect(statements: [signups.release(Self.name, by: draft)]))
            return
        }
        // Submitting the same name again reveals nothing new, so it consumes no limit.
        let isSame = value(in: draft.values, of: field.name)?.text == name
        submission.change.effects.append(
            Effect(
                limits: isSame ? [] : [signups.charge(.usernameChecks, draft.id.bytes)],
                lease: LeaseRequest(field: field.name, kind: Self.name, name: name),
                statements: [signups.release(Self.name, except: name, by: draft)]
            )
        )
    }

    /// If the field is an identifier and the draft does not have the name already, checks whether the name is taken.
    /// The check consumes a rate limit of the draft. Together with the limit `starts` of new drafts, this bounds how
    /// many names one network can try.
    package func check(
        _ value: Username,
        in field: Field,
        of draft: Draft,
        by signups: Signups
    ) async throws(CheckError) -> [Refusal] {
        let name = value.text
        guard field.isIdentifier, name != self.value(in: draft.values, of: field.name)?.text else { return [] }
        let charges = [signups.charge(.usernameChecks, draft.id.bytes)]
        let (isTaken, exceeded) = try await converting(to: CheckError.database) { () throws(DatabaseError) in
            let rows = try await signups.database.transaction(
                signups.consume(charges),
                "SELECT \(signups.isRefused(name, Self.name, to: draft))"
            )
            return (try rows[1].only.decode(Bool.self), try signups.exceeded(charges, rows[0]))
        }
        if let exceeded { throw .limited(exceeded) }
        return isTaken ? [Refusal(field.name, .taken)] : []
    }

    package func clear(_ field: Field, of draft: Draft, by signups: Signups, _ change: inout Change) {
        guard field.isIdentifier else { return }
        change.effects.append(Effect(statements: [signups.release(Self.name, by: draft)]))
    }

    /// If the field is an identifier, stores the name in its own column, and otherwise in the profile.
    package func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError) {
        guard let name = value(in: plan.draft.values, of: field.name) else { return }
        if field.isIdentifier {
            plan.username = name.text
        } else {
            plan.profile.append(.init(field.name.rawValue, name.json))
        }
    }

    /// If the field is an identifier, renames the account, and mails a notice to the address of the account. Otherwise
    /// only changes the name in the profile.
    package func edit(_ field: Field, _ plan: inout EditPlan) async throws(SignInError) {
        guard field.isIdentifier else { return plan.updateProfile(field) }
        let name = value(in: plan.after, of: field.name)?.text
        if name == plan.account.username { return }
        let isDone: SQL = """
            EXISTS (SELECT FROM accounts WHERE id = \(plan.account.id) AND username IS NOT DISTINCT FROM \(name))
            """
        let isTaken = name.map { plan.signups.isTaken($0, Self.name) } ?? "false"
        plan.renaming = EditPlan.Renaming(
            field: field.name,
            isDone: isDone,
            takenCondition: "NOT \(isDone) AND \(isTaken)",
            expression: "rename_account(\(plan.account.id), \(name))"
        )
        plan.limits.append(plan.signups.charge(.usernameChecks, plan.account.id.bytes))
        plan.notices.append(.usernameChanged)
    }

    package func renewDigests(
        of value: Username,
        in field: Field,
        of draft: ID<Draft>,
        by signups: Signups
    ) -> [SQL] {
        guard field.isIdentifier else { return [] }
        return [signups.renewLease(of: value.text, Self.name, by: draft)]
    }
}
