internal import Foundation

package enum ResendError: Error {
    case locked(next: Step?)
    /// The step asks for no code.
    case noCode
    /// The address is proved already, or its proof is exhausted for good.
    case refused([Refusal])
    /// The last mail is too young.
    case tooSoon(wait: Duration, every: Duration)
    case committed
    case overtaken
    case database(DatabaseError)
}

extension Signups {
    /// Ends the code that is on its way and mails a new one, with attempts of its own but the failures of all before.
    ///
    /// - Returns: how long to wait before the next one.
    package func resend(_ step: Step, of draft: Draft) async throws(ResendError) -> Duration {
        if draft.account != nil { throw .committed }
        let standing = standing(of: draft)
        if standing.states[step.name] == .locked { throw .locked(next: standing.next) }
        guard let field = step.fields.first(where: { $0.kind is CodeField }), let code = field.kind as? CodeField else {
            throw .noCode
        }
        let proof = draft.proofs[field.name]
        guard let address = draft.values[code.proves]?.string else { throw .locked(next: standing.next) }
        if let proof, proof.namesCurrentAddress, proof.provedAt != nil {
            throw .refused([Refusal(field.name, .notAllowed)])
        }
        if let proof, proof.failures >= Proof.mostFailures { throw .refused([Refusal(field.name, .codeExhausted)]) }
        if let proof, proof.namesCurrentAddress {
            let waited = draft.now.timeIntervalSince(proof.sentAt)
            let left = code.resendAfter.seconds - Int(waited.rounded(.down))
            if left > 0 { throw .tooSoon(wait: .seconds(left), every: code.resendAfter) }
        }
        // `revised` is the draft itself, which keeps its revision: what the person typed is the same.
        let statement: SQL = """
            WITH revised AS (
                SELECT id FROM drafts
                 WHERE \(isCurrent(draft))
                   AND (SELECT generation FROM proofs WHERE draft = \(draft.id) AND field = \(field.name.rawValue))
                       IS NOT DISTINCT FROM \(proof?.generation)
            ), \(newCode(field.name, code, address: address, generation: (proof?.generation ?? 0) + 1, of: draft))
            SELECT count(*) FROM revised
            """
        do throws(DatabaseError) {
            let rows = try await database.transaction(
                "SELECT 1 FROM drafts WHERE id = \(draft.id) FOR UPDATE",
                statement
            )[1]
            guard try rows[0].decode(Int.self) == 1 else { throw DatabaseError.cancelled }
        } catch {
            if case .cancelled = error { throw .overtaken }
            throw .database(error)
        }
        outbox.ring()
        return code.resendAfter
    }
}
