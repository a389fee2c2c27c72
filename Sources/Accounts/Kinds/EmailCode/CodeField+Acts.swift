internal import Foundation

/// The members of ``FieldActs`` that a mailed code needs.
extension CodeField {
    package static var draftTables: [String] { ["proofs"] }
    package static var sealedTables: [SealedTable] {
        [SealedTable(plural: "tickets", singular: "ticket", table: "tickets", key: "id")]
    }

    package func check(_ entry: YAMLEntry, at position: FieldPosition) throws(YAMLFileError) {
        guard position.earlierSteps.contains(where: { $0.name == proves && $0.kind is EmailField }) else {
            throw entry.error("\"proves\" must name a field of kind \"email\" in an earlier step", at: "proves")
        }
        if position.earlier.contains(where: { $0.kind.provedField == proves }) {
            throw entry.error("another code already proves \"\(proves)\"", at: "proves")
        }
        guard entry.isRequired else { throw entry.error("a field of kind \"code\" cannot be optional", at: "required") }
    }

    package func check(_ entry: YAMLEntry, of field: Field, in steps: [Step]) throws(YAMLFileError) {
        for step in steps {
            guard let address = step.field(named: proves), step.isOptional || !address.isRequired else { continue }
            throw entry.error(
                "\"\(address.name)\" must be required, in a step that is not optional, because a code proves it",
                at: "proves"
            )
        }
    }

    /// Counts an attempt, compares the code, and adds the proof to the change. If the address is already proved, only
    /// checks that the code is the one that has proved it, for example after a double click.
    package func submit(_ field: Field, _ submission: inout Submission) async throws(SubmitError) {
        guard let digits = submission.inputs[field.name] as? String else { return }
        submission.hasGuess = true
        let (signups, draft) = (submission.signups, submission.draft)
        if draft.proofs[field.name]?.isProved == true {
            try signups.checkRepetition(digits, on: field.name, self, of: draft)
            return
        }
        let isRetried = submission.completed.contains(field.name)
        let spent = try await submission.completed.once(
            field.name,
            optional: { () throws(SubmitError) -> Int? in
                try await signups.spend(digits, on: field.name, self, of: draft)
            }
        )
        guard let generation = spent else { return }
        // The address or the code may have changed while the write was retried.
        guard draft.proofs[field.name]?.generation == generation else {
            throw .refused([Refusal(field.name, .codeExpired)])
        }
        // The code may also have been withdrawn, for example because the address has an account now.
        if isRetried, try await signups.isWithdrawn(field.name, of: draft) {
            throw .refused([Refusal(field.name, .codeExpired)])
        }
        submission.change.effects.append(signups.proofEffect(field.name, generation: generation, of: draft))
        if let counts = draft.values.address(in: proves).flatMap(signups.guessCounts) {
            let forgive = signups.forgive(counts, isKnown: false, when: signups.hasWritten(draft))
            submission.change.effects.append(Effect(statements: forgive))
        }
    }

    package func clear(_ field: Field, of draft: Draft, by signups: Signups, _ change: inout Change) {
        change.effects.append(signups.withdrawalEffect(of: field.name, from: draft))
    }

    /// If the code proves the address that identifies the account, requires this proof in the transaction of the
    /// commit, and withdraws the codes for the address in all drafts that have not proved it.
    package func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError) {
        guard plan.signups.flow.field(named: proves)?.isIdentifier == true,
            let address = plan.draft.values.address(in: proves)
        else { return }
        let digests = plan.signups.addressDigests(address)
        let proof: SQL = """
            FROM proofs WHERE draft = \(plan.draft.id) AND field = \(field.name.rawValue) AND proved_at IS NOT NULL
                          AND address_digest = ANY (\(ByteStrings(digests)))
            """
        plan.conditions.append("EXISTS (SELECT \(proof))")
        plan.emailProvedAt = "(SELECT proved_at \(proof))"
        guard plan.draft.proofs[field.name]?.isProved == true else { return }
        plan.provedDigests = digests
        plan.statements += plan.signups.withdrawCodes(for: digests, when: "EXISTS (SELECT FROM \(plan.owner))")
    }

    package func summary(of field: Field, in draft: Draft, reveals: Bool) -> String? {
        sentCode(field, in: draft)?.state.rawValue
    }

    package func obstacle(_ field: Field, in context: ValidationContext) -> Obstacle.Reason? {
        guard let proof = context.proofs[field.name], proof.isForCurrentAddress else { return .noCode }
        if proof.isProved { return nil }
        if proof.isExhausted { return .exhausted }
        if proof.attempts >= attempts { return .codeUsedUp }
        return context.now < proof.expiresAt ? .codeNotGiven : .codeExpired
    }

    package func shown(_ field: Field, in draft: Draft, at place: DisplayContext) -> JSON? {
        draft.proofs[field.name]?.isProved == true ? ["verified": true] : nil
    }

    package func stepMembers(_ field: Field, in draft: Draft) -> [JSON.Member] {
        guard let proof = draft.proofs[field.name], !proof.isProved else { return [] }
        let waited = draft.now.timeIntervalSince(proof.sentAt)
        return [
            .init("resend_after", .integer(max(0, resendAfter.seconds - Int(waited)))),
            .init("code_expires_at", .string(proof.expiresAt.timestamp)),
        ]
    }

    package func templateMembers(_ form: FormField) -> [JSON.Member] {
        [
            .init("lifetime", .integer(lifetime.seconds)),
            .init("lifetime_text", .string(form.language.messages.codeLifetime(seconds: lifetime.seconds))),
        ]
    }

    package func reviewText(_ shown: JSON, in language: Language) -> String { language.messages.text(.confirmed) }
}

extension Flow {
    /// The code field that proves the address in the given field; nil if there is none.
    package func code(proving address: FieldName) -> (field: Field, kind: CodeField)? {
        for field in fields {
            if let kind = field.kind as? CodeField, kind.proves == address { return (field, kind) }
        }
        return nil
    }

    /// The field with the address that identifies the account, and the field with the code that proves it; nil if the
    /// flow does not have both.
    var provedIdentifier: (address: Field, code: Field)? {
        for field in fields where field.isIdentifier {
            if let (code, _) = code(proving: field.name) { return (field, code) }
        }
        return nil
    }

    /// True if the flow has a code field, which proves an address.
    var provesAddress: Bool { fields.contains { $0.kind is CodeField } }
}

extension Signups {
    /// A text that the form of the step contains and sends back with the code, so that the service recognises a form
    /// that was loaded before the address changed. The text is different for each address, and does not reveal the
    /// address. Nil if the step has no code, or if the draft has no address for the code.
    package func addressMark(at step: Step, of draft: Draft) -> String? { addressMarks(at: step, of: draft).first }

    /// Whether ``addressMark(at:of:)`` has made the mark, with any key of the key ring, for the present address of the
    /// draft.
    package func isCurrent(addressMark: String, at step: Step, of draft: Draft) -> Bool {
        addressMarks(at: step, of: draft).contains(addressMark)
    }

    private func addressMarks(at step: Step, of draft: Draft) -> [String] {
        let address = step.fields.compactMap(\.kind.provedField).first.flatMap { draft.values.address(in: $0) }
        return address.map(addressDigests)?.map { Array($0.prefix(12)).base64URL } ?? []
    }

    /// An address that the draft has proved, preferably the one that identifies the account; nil if it has proved none.
    func provedAddress(of draft: Draft) -> EmailAddress? {
        for field in flow.fields.filter(\.isIdentifier) + flow.fields {
            if let code = flow.code(proving: field.name), draft.proofs[code.field.name]?.isProved == true {
                return draft.values.address(in: field.name)
            }
        }
        return nil
    }

    /// The digests of the address that identifies the account, if the draft has proved it; otherwise none.
    func provedDigests(of draft: Draft) -> [[UInt8]] {
        guard let (field, code) = flow.provedIdentifier, draft.proofs[code.name]?.isProved == true,
            let address = draft.values.address(in: field.name)
        else { return [] }
        return addressDigests(address)
    }
}
