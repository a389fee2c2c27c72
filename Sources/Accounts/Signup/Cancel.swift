package enum CancelError: Error {
    case committed
    case database(DatabaseError)
}

extension Signups {
    /// Ends the draft at once: its values, proofs and leases are gone, and only the hash of its token is remembered.
    /// A draft that ended meanwhile is ended all the same.
    package func cancel(_ draft: Draft) async throws(CancelError) {
        if draft.account != nil { throw .committed }
        let rows: Rows
        do throws(DatabaseError) {
            // Locked first, so that the statement after it sees what a commit made of the draft meanwhile.
            rows = try await database.transaction(
                "SELECT 1 FROM drafts WHERE id = \(draft.id) FOR UPDATE",
                """
                WITH ended AS (
                    DELETE FROM drafts WHERE id = \(draft.id) AND account_id IS NULL RETURNING id, token_hash, ends_at
                ), spent AS (
                    DELETE FROM proofs USING ended WHERE draft = ended.id
                ), released AS (
                    DELETE FROM leases USING ended WHERE draft = ended.id
                ), remembered AS (
                    INSERT INTO endings (token_hash, reason, until)
                    SELECT token_hash, 'cancelled', ends_at + interval '1 day' FROM ended ON CONFLICT DO NOTHING
                )
                SELECT EXISTS (SELECT FROM ended)
                    OR NOT EXISTS (SELECT FROM drafts WHERE id = \(draft.id) AND account_id IS NOT NULL)
                """
            )[1]
            guard try !rows[0].decode(Bool.self) else { return }
        } catch {
            throw .database(error)
        }
        throw .committed
    }
}
