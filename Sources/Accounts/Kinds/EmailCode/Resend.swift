internal import Foundation

package enum ResendError: Error {
    case locked(next: Step?)
    /// The step has no field of kind `code`.
    case noCode
    /// The address is proved already, or the draft gets no further code for the field (``Proof/isExhausted``).
    case refused([Refusal])
    /// The previous mail was sent too recently, or too many mails were sent.
    case limited(LimitReached)
    /// The draft is not at the requested revision.
    case stale(Draft)
    case committed
    case find(FindError)
    /// The draft kept changing, or too many requests wait for it.
    case contended
    case database(DatabaseError)
}

extension Signups {
    /// Invalidates the current code of the step and mails a new one, with a full set of attempts. Wrong guesses at the
    /// earlier codes still count against ``Proof/maximumFailures``.
    ///
    /// - Parameter revision: the revision that the client requires, if any.
    /// - Returns: the time until the next code may be requested.
    package func resend(
        _ step: Step,
        of draft: Draft,
        at revision: Int? = nil
    ) async throws(ResendError) -> Duration {
        try await retryingInTurn(draft) { (draft) throws(ResendError) -> Duration? in
            if draft.account != nil { throw .committed }
            if let revision, revision != draft.revision { throw .stale(draft) }
            let progress = progress(of: draft)
            if progress.states[step.name] == .locked { throw .locked(next: progress.next) }
            guard let field = step.fields.first(where: { $0.kind is CodeField }), let code = field.kind as? CodeField
            else { throw .noCode }
            guard let address = draft.values.address(in: code.proves) else { throw .locked(next: progress.next) }
            if let proof = draft.proofs[field.name] {
                if proof.isProved { throw .refused([Refusal(field.name, .notAllowed)]) }
                if proof.isExhausted { throw .refused([.exhausted(field.name)]) }
                let wait = proof.isForCurrentAddress ? proof.wait(for: code, at: draft.now) : .zero
                if wait > .zero {
                    throw .limited(reached(.resend, Limit(1, per: code.resendAfter), wait: wait))
                }
            }
            return try await sendAgain(field.name, code, to: address, of: draft) ? code.resendAfter : nil
        }
    }

    /// Makes and mails the new code. Returns false if another code was made or the draft changed in the meantime. The
    /// revision of the draft stays the same, because no answer changes.
    private func sendAgain(
        _ field: FieldName,
        _ code: CodeField,
        to address: EmailAddress,
        of draft: Draft
    ) async throws(ResendError) -> Bool {
        let previousGeneration = draft.proofs[field]?.generation
        let charges = mailCharges(to: address, code, of: draft)
        let isUnchanged: SQL = "\(exists(draft)) AND \(isGeneration(previousGeneration, field, of: draft))"
        let isAllowed: SQL = "\(Self.flag("resend")) AND \(Self.isWithinLimits)"
        let (isSent, exceeded) = try await converting(to: ResendError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                [
                    lock(draft), "SELECT \(Self.setFlag("resend", isUnchanged))",
                    consume(charges, when: Self.flag("resend")),
                ] + codeStatements(field, code, address, after: previousGeneration, draft, when: isAllowed)
            )
            return (try rows[1].only.decode(String.self) == "true", try self.exceeded(charges, rows[2]))
        }
        if let exceeded { throw .limited(exceeded) }
        if isSent { outbox.wakeSender() }
        return isSent
    }
}
