/// The members of ``FieldActs`` that an e-mail address needs.
extension EmailField {
    package func check(_ entry: YAMLEntry, of field: Field, in steps: [Step]) throws(YAMLFileError) {
        let fields = steps.flatMap(\.fields)
        if field.isIdentifier, !fields.contains(where: { $0.kind.provedField == field.name }) {
            throw entry.error("the identifier \"\(field.name)\" needs a field of kind \"code\" that proves it")
        }
    }

    /// False for an address that identifies the account or that a code proves, because another address needs a new
    /// proof.
    package func canBeEdited(_ field: Field, among fields: [Field]) -> Bool {
        !field.isIdentifier && !fields.contains { $0.kind.provedField == field.name }
    }

    /// If the address changes, withdraws the proof of the previous address and mails a code to the new one. If the
    /// address stays the same, mails another code only if it is not proved and its latest code can no longer be used.
    /// In both cases, if the latest code was mailed to this address, mails another one only after
    /// ``CodeField/resendAfter``. Mails no code if the answer has no address, or if the flow has no code field for it.
    ///
    /// Refuses an address that needs another code if the draft gets no further code, or if it is the present address of
    /// the account whose address the draft changes.
    package func submit(_ field: Field, _ submission: inout Submission) async throws(SubmitError) {
        let (signups, draft) = (submission.signups, submission.draft)
        let address = value(in: submission.change.values, of: field.name)
        let isSame = address == value(in: draft.values, of: field.name)
        if !isSame { signups.flow.addressChanges(&submission.change) }
        if !isSame, let previous = value(in: draft.values, of: field.name) {
            submission.change.effects.append(signups.withdrawalEffect(ofProofsOf: previous, from: draft))
        }
        guard let (codeField, codeKind) = signups.flow.code(proving: field.name) else { return }
        let proof = draft.proofs[codeField.name]
        if !isSame, proof?.isProved == true { submission.change.cleared.append(codeField.name) }
        guard let address else {
            submission.change.effects.append(signups.withdrawalEffect(of: codeField.name, from: draft))
            return
        }
        if let proof, signups.addressDigests(address).contains(proof.addressDigest) {
            if isSame, proof.isProved || proof.isUsable(for: codeKind, at: draft.now) { return }
            if proof.wait(for: codeKind, at: draft.now) > .zero { return }
        }
        if let proof, proof.isExhausted { throw .refused([.exhausted(field.name)]) }
        if try await signups.isCurrentAddress(address, in: draft) { throw .refused([Refusal(field.name, .unchanged)]) }
        submission.change.effects.append(
            signups.newCode(codeField.name, codeKind, for: address, after: proof?.generation, of: draft)
        )
    }

    package func clear(_ field: Field, of draft: Draft, by signups: Signups, _ change: inout Change) {
        signups.flow.addressChanges(&change)
        if let previous = value(in: draft.values, of: field.name) {
            change.effects.append(signups.withdrawalEffect(ofProofsOf: previous, from: draft))
        }
        guard let code = signups.flow.code(proving: field.name) else { return }
        change.effects.append(signups.withdrawalEffect(of: code.field.name, from: draft))
        if draft.proofs[code.field.name]?.isProved == true { change.cleared.append(code.field.name) }
    }

    /// An address that identifies the account becomes its ``Account/email``, and gets a mail that tells of the commit.
    /// Any other address becomes a member of the profile.
    package func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError) {
        guard let address = value(in: plan.draft.values, of: field.name) else { return }
        guard field.isIdentifier else {
            plan.profile.append(.init(field.name.rawValue, address.json))
            return
        }
        plan.email = address
        let mail = plan.signups.outbox.seal(
            .init(to: address.rawValue, language: plan.draft.language, code: nil),
            from: plan.signups.network,
            at: plan.draft.now
        )
        plan.statements.append(
            """
            INSERT INTO outbox (id, draft, account, network, recipient, turn, template, sealed, useless_after)
            SELECT \(mail.id), \(plan.draft.id), id, \(mail.networkDigest), \(mail.recipientDigest),
                   mail_turn(\(mail.networkDigest)),
                   \(plan.noticeTemplate), \(mail.sealed), now() + interval '7 days' FROM \(plan.owner)
            """
        )
    }

    package func renewDigests(
        of value: EmailAddress,
        in field: Field,
        of draft: ID<Draft>,
        by signups: Signups
    ) -> [SQL] {
        let digests = signups.addressDigests(value)
        return [
            """
            UPDATE proofs SET address_digest = \(digests[0])
             WHERE draft = \(draft) AND address_digest = ANY (\(ByteStrings(Array(digests.dropFirst()))))
            """
        ]
    }
}

extension Signups {
    /// The effect that withdraws proofs of an address that the draft no longer has, but only those whose code field is
    /// not in the flow any more. Without this effect, such a proof would be valid again after a later flow file has
    /// brought the code field back, and the person has submitted the address again.
    fileprivate func withdrawalEffect(ofProofsOf address: EmailAddress, from draft: Draft) -> Effect {
        let present = flow.fields.filter { $0.kind.provedField != nil }.map(\.name.rawValue)
        return Effect(
            statements: [
                """
                UPDATE proofs SET proved_at = NULL, code_digest = NULL, expires_at = now()
                 WHERE draft = \(draft.id) AND address_digest = ANY (\(ByteStrings(addressDigests(address))))
                   AND field NOT IN (SELECT jsonb_array_elements_text(\(JSON.array(present.map(JSON.string)).text)::jsonb))
                   AND \(hasWritten(draft))
                """
            ]
        )
    }
}

extension Flow {
    /// The steps with a value that another e-mail address would clear.
    package func stepsThatAnAddressChangeClears(in values: Values) -> [Step] {
        var change = Change(values: values)
        addressChanges(&change)
        return steps.filter { step in
            step.fields.contains { values.contains($0.name) && !change.values.contains($0.name) }
        }
    }

    /// Tells every field of the flow that an e-mail address in the draft has changed.
    fileprivate func addressChanges(_ change: inout Change) {
        for step in steps {
            for field in step.fields { field.kind.addressChanges(field, of: step, &change) }
        }
    }
}

extension Signups {
    /// The value of the e-mail field that identifies the account; nil if the flow has no such field, or if the field
    /// has no value.
    package func identifyingAddress(in values: Values) -> EmailAddress? {
        guard let field = flow.fields.first(where: { $0.isIdentifier && $0.kind is EmailField }) else { return nil }
        return values.address(in: field.name)
    }
}

extension Values {
    package func address(in field: FieldName) -> EmailAddress? { self[field] as? EmailAddress }
}
