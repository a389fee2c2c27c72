package enum CancelError: Error {
    case committed
    /// The draft is not at the requested revision.
    case stale(Draft)
    case find(FindError)
    case database(DatabaseError)
}

extension Signups {
    /// Ends the draft immediately: deletes its row and what belongs to it, such as proofs and leases
    /// (``deleteBelongingsExceptCodes``). Mail with a code, and notices to owners of accounts, are still delivered.
    /// Stores the hash of the token in `endings` with the reason `cancelled`.
    ///
    /// - Parameter revision: the revision that the client requires, if any.
    package func cancel(_ draft: Draft, at revision: Int? = nil) async throws(CancelError) {
        if draft.account != nil { throw .committed }
        if let revision, revision != draft.revision { throw .stale(draft) }
        let isOpen: SQL = "id = \(draft.id) AND token_hash = \(draft.tokenHash) AND account_id IS NULL"
        let isRequestedRevision: SQL = revision.map { "\(isOpen) AND revision = \($0)" } ?? isOpen
        let hasEnded = try await converting(to: CancelError.database) { () throws(DatabaseError) in
            // Locks the row of the draft first, like the transactions that write it, so that two cannot deadlock.
            let rows = try await database.transaction(
                [lock(draft), end(in: table(of: draft.id), where: isRequestedRevision, as: .cancelled)]
                    + Self.deleteBelongingsExceptCodes
                    + ["SELECT EXISTS (SELECT FROM \(table(of: draft.id)) WHERE id = \(draft.id))"]
            )
            let exists = try rows[rows.count - 1].only.decode(Bool.self)
            return try countEnded(rows[1], as: .cancelled) || !exists
        }
        if hasEnded { return }
        let current = try await reread(draft, orThrow: CancelError.find)
        throw current.account != nil ? .committed : .stale(current)
    }
}
