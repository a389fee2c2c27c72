package enum CancelError: Error {
    case committed
    /// The draft is at another revision than the one asked for.
    case stale(Draft)
    case find(FindError)
    case database(DatabaseError)
}

extension Signups {
    /// Ends the draft at once: its values, proofs and leases are gone, and only the hash of its token is remembered.
    ///
    /// - Parameter revision: the revision that the client saw, if it insists on it.
    package func cancel(_ draft: Draft, at revision: Int? = nil) async throws(CancelError) {
        if draft.account != nil { throw .committed }
        if let revision, revision != draft.revision { throw .stale(draft) }
        let asked: SQL = revision.map { "AND revision = \($0)" } ?? ""
        let isEnded: Bool
        do throws(DatabaseError) {
            // Locked first, so that the statement after it sees what a commit made of the draft meanwhile.
            let row = try await database.transaction(
                "SELECT 1 FROM \(table(of: draft.id)) WHERE id = \(draft.id) FOR UPDATE",
                """
                WITH ended AS (
                    DELETE FROM \(table(of: draft.id))
                     WHERE id = \(draft.id) AND token_hash = \(draft.tokenHash) AND account_id IS NULL \(asked)
                    RETURNING id, flow, step, token_hash, ends_at
                ), \(belongingsGone), remembered AS (
                    INSERT INTO endings (token_hash, reason, until)
                    SELECT token_hash, 'cancelled', ends_at + interval '1 day' FROM ended ON CONFLICT DO NOTHING
                )
                SELECT EXISTS (SELECT FROM ended) OR NOT EXISTS (SELECT FROM \(table(of: draft.id)) WHERE id = \(draft.id)),
                       \(Funnel.ended())
                """
            )[1].only
            let ended: String
            (isEnded, ended) = try row.decode(Bool.self, String.self)
            try funnel.ended(ended, as: .cancelled)
        } catch {
            throw .database(error)
        }
        if isEnded { return }
        let now: Draft
        do throws(FindError) { now = try await reread(draft) } catch { throw .find(error) }
        throw now.account != nil ? .committed : .stale(now)
    }
}

extension Signups {
    /// Part of a statement over `ended`: what belongs to drafts that end, and the mail that nobody has a use for then.
    var belongingsGone: SQL {
        """
        spent AS (
            DELETE FROM proofs WHERE draft = ANY (ARRAY(SELECT id FROM ended)) RETURNING mail
        ), unlinked AS (
            DELETE FROM handoffs WHERE draft = ANY (ARRAY(SELECT id FROM ended)) RETURNING mail
        ), useless AS (
            \(deleteWaiting("SELECT mail FROM spent UNION ALL SELECT mail FROM unlinked"))
        ), abandoned AS (
            DELETE FROM enrolments WHERE draft = ANY (ARRAY(SELECT id FROM ended))
        ), forgotten AS (
            DELETE FROM draft_photos WHERE draft = ANY (ARRAY(SELECT id FROM ended))
        ), released AS (
            DELETE FROM leases WHERE draft = ANY (ARRAY(SELECT id FROM ended))
        )
        """
    }
}
