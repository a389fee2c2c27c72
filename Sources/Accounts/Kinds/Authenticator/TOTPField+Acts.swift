/// The members of ``FieldActs`` that an authenticator needs.
extension TOTPField {
    package static var draftTables: [String] { ["enrolments"] }

    package var isCredential: Bool { true }

    package static var sealedTables: [SealedTable] {
        [SealedTable(plural: "authenticators", singular: "authenticator", table: "authenticators", key: "account")]
    }

    package func check(_ entry: YAMLEntry, at position: FieldPosition) throws(YAMLFileError) {
        guard position.earlierSteps.contains(where: { $0.kind.provedField != nil }) else {
            throw entry.error(
                "a field of kind \"totp\" must come after a step with a field of kind \"code\"",
                at: "kind"
            )
        }
        if position.earlier.contains(where: { $0.kind is TOTPField }) {
            throw entry.error("a flow can have only one field of kind \"totp\"", at: "kind")
        }
    }

    /// Adds the authenticator to the draft and makes its recovery codes if the code is correct. If the draft already
    /// has an authenticator, accepts only the code that has confirmed it, for example after a double click.
    package func submit(_ field: Field, _ submission: inout Submission) async throws(SubmitError) {
        guard let code = submission.inputs[field.name] as? String else { return }
        submission.hasGuess = true
        let (signups, draft) = (submission.signups, submission.draft)
        if let authenticator = value(in: submission.change.values, of: field.name) {
            try authenticator.checkRepetition(code, of: field.name)
            return
        }
        let newAuthenticator = try await submission.completed.once(
            field.name,
            optional: { () throws(SubmitError) -> NewAuthenticator? in
                try await signups.enrol(code, field.name, of: draft)
            }
        )
        guard let newAuthenticator else { return }
        var authenticator = newAuthenticator.authenticator
        if submission.keepsRecoveryCodes { authenticator.unsavedCodes = newAuthenticator.recoveryCodes }
        submission.change.values[field.name] = authenticator
        submission.change.recoveryCodes = newAuthenticator.recoveryCodes
        submission.change.effects.append(Effect(statements: [signups.confirmEnrolment(in: field.name, of: draft)]))
    }

    /// Removes the authenticator when an address changes, because the app may belong to the reader of the earlier
    /// address.
    package func addressChanges(_ field: Field, of step: Step, _ change: inout Change) {
        guard change.values.contains(field.name) else { return }
        change.values[field.name] = nil
        change.values.markEmptied(step.name)
        change.cleared.append(field.name)
    }

    package func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError) {
        guard let authenticator = value(in: plan.draft.values, of: field.name) else { return }
        plan.factors.append("otp")
        let sealed = plan.signups.keys.seal(authenticator.secret, for: .authenticator(of: plan.account))
        plan.statements += [
            """
            INSERT INTO authenticators (account, sealed, last_step)
            SELECT id, \(sealed), \(authenticator.lastStep) FROM \(plan.owner)
            """,
            """
            INSERT INTO recovery_codes (account, digest)
            SELECT id, digest FROM unnest(\(ByteStrings(authenticator.recoveryDigests))) AS digest, \(plan.owner)
            """,
        ]
    }

    package static func accountQuery(of account: ID<Account>) -> AccountQuery? {
        AccountQuery(
            select: """
                SELECT EXISTS (SELECT FROM authenticators WHERE account = \(account)),
                       (SELECT count(*) FROM recovery_codes WHERE account = \(account))
                """
        ) { rows throws(DatabaseError) in
            let (exists, codes) = try rows.only.decode(Bool.self, Int.self)
            return AccountSection(
                precedesValues: true,
                entries: exists
                    ? [
                        .init(
                            label: "factor",
                            text: "authenticator",
                            note: codes == 1 ? "1 recovery code left" : "\(codes) recovery codes left"
                        )
                    ] : [],
                members: [.init("authenticator", .bool(exists)), .init("recovery_codes", .integer(codes))]
            )
        }
    }

    package func masked(_ value: Authenticator) -> String { "set" }
    package func revealed(_ value: Authenticator) -> String { "set" }

    /// If there is an authenticator: the path of the form that removes it, and whether the step is optional, so that
    /// the form may offer to go on without an authenticator. If there is none: whether the person may leave the field
    /// empty.
    package func templateMembers(_ form: FormField) -> [JSON.Member] {
        guard form.shown != .null else {
            return [.init("is_optional", .bool(form.step.isOptional || !form.field.isRequired))]
        }
        return [
            .init("remove", .string("\(form.step.href)/remove")), .init("is_removable", .bool(form.step.isOptional)),
        ]
    }

    package func reviewText(_ shown: JSON, in language: Language) -> String { language.messages.text(.isOn) }
    package var missingText: Word { .isOff }
    /// The label of the field asks for a code, but the review shows whether there is an authenticator.
    package var reviewLabel: Word? { .authenticator }
}
