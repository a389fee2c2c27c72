internal import Foundation

package enum ResendError: Error {
    case locked(next: Step?)
    /// The step asks for no code.
    case noCode
    /// The address is proved already, or its proof is exhausted for good.
    case refused([Refusal])
    /// The last mail is too young, or there were too many.
    case limited(LimitReached)
    /// The draft is at another revision than the one asked for.
    case stale(Draft)
    case committed
    case find(FindError)
    /// The draft kept changing.
    case contended
    case database(DatabaseError)
}

extension Signups {
    /// Ends the code that is on its way and mails a new one, with attempts of its own but the failures of all before.
    ///
    /// - Parameter revision: the revision that the client saw, if it insists on it.
    /// - Returns: how long to wait before the next one.
    package func resend(
        _ step: Step,
        of draft: Draft,
        at revision: Int? = nil
    ) async throws(ResendError) -> Duration {
        var draft = draft
        for _ in 0..<50 {
            if draft.account != nil { throw .committed }
            if let revision, revision != draft.revision { throw .stale(draft) }
            let standing = standing(of: draft)
            if standing.states[step.name] == .locked { throw .locked(next: standing.next) }
            guard let field = step.fields.first(where: { $0.kind is CodeField }), let code = field.kind as? CodeField
            else { throw .noCode }
            guard let address = draft.values[code.proves]?.string else { throw .locked(next: standing.next) }
            if let proof = draft.proofs[field.name] {
                if proof.isProved { throw .refused([Refusal(field.name, .notAllowed)]) }
                if proof.isExhausted { throw .refused([.exhausted(field.name)]) }
                let wait = proof.namesCurrentAddress ? proof.wait(by: code, at: draft.now) : .zero
                if wait > .zero {
                    throw .limited(reached("resend", Limit(1, per: code.resendAfter), wait: wait))
                }
            }
            if try await sendAgain(field.name, code, to: address, of: draft) { return code.resendAfter }
            do throws(FindError) { draft = try await reread(draft) } catch { throw .find(error) }
        }
        throw .contended
    }

    /// False where another code was made meanwhile, or the draft changed.
    private func sendAgain(
        _ field: FieldName,
        _ code: CodeField,
        to address: String,
        of draft: Draft
    ) async throws(ResendError) -> Bool {
        let last = draft.proofs[field]?.generation
        let charges = mailCharges(to: address, code, of: draft)
        // `revised` is the draft itself, which keeps its revision: what the person typed is the same.
        let statement: SQL = """
            WITH current AS (
                SELECT id FROM \(table(of: draft.id))
                 WHERE \(isCurrent(draft))
                   AND (SELECT generation FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue))
                       IS NOT DISTINCT FROM \(last)
            ), \(refused(charges)), revised AS (SELECT id FROM current WHERE NOT EXISTS (SELECT FROM refused)),
            \(newCode(field, code, address: address, generation: (last ?? 0) + 1, of: draft, part: "0"))
            SELECT EXISTS (SELECT FROM revised), \([Charge].columns)
            """
        let row: (isSent: Bool, number: Int?, wait: Int?)
        do throws(DatabaseError) {
            let rows = try await database.transaction(
                "SELECT 1 FROM \(table(of: draft.id)) WHERE id = \(draft.id) FOR UPDATE",
                statement
            )[1]
            row = try rows[0].decode(Bool.self, Int?.self, Int?.self)
        } catch {
            throw .database(error)
        }
        if let reached = reached(charges, row.number, row.wait) { throw .limited(reached) }
        if row.isSent { outbox.ring() }
        return row.isSent
    }
}
