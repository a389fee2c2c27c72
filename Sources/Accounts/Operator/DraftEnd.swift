extension Operator {
    /// Deletes one draft that is not committed, and writes an audit record. Returns false if there is no such draft
    /// with that id.
    package func expire(_ id: ID<Draft>) async throws(DatabaseError) -> Bool {
        let rows = try await database.transaction(
            ["SELECT 1 FROM drafts WHERE id = \(id) FOR UPDATE", end(where: "id = \(id) AND account_id IS NULL")]
                + [auditEnded(.expire)] + Signups.deleteBelongings
        )
        return try signups.countEnded(rows[1], as: .removed)
    }

    /// Returns the number of drafts that ``purge(_:)`` would delete. A search for an address writes audit records.
    package func count(_ filter: DraftFilter) async throws(DatabaseError) -> Int {
        let matching: SQL = "drafts, \(expiry) WHERE account_id IS NULL AND \(condition(filter))"
        return try await search(filter, "SELECT count(*) FROM \(matching)", over: matching).only.decode(Int.self)
    }

    /// Deletes all drafts that match the filter and are not committed, in batches, and returns their number. Skips
    /// drafts that another transaction has locked. Writes an audit record for each deleted draft.
    ///
    /// If the filter has an address, also deletes the tickets (``Ticket``) for this address. In this case, call
    /// ``count(_:)`` first: it writes the audit records of the search.
    package func purge(_ filter: DraftFilter) async throws(DatabaseError) -> Int {
        if let email = filter.email { _ = try await database.transaction(signups.eraseTickets(of: email)) }
        var count = 0
        while true {
            let batch: SQL = """
                id = ANY (ARRAY(SELECT id FROM drafts, \(expiry) WHERE account_id IS NULL AND \(condition(filter))
                                 LIMIT 500 FOR UPDATE OF drafts SKIP LOCKED))
                """
            let rows = try await database.transaction(
                [end(where: batch), "SELECT cardinality(\(Signups.ended))", auditEnded(.purge)]
                    + Signups.deleteBelongings
            )
            if try !signups.countEnded(rows[0], as: .removed) { return count }
            count += try rows[1].only.decode(Int.self)
        }
    }

    /// A statement that deletes drafts. For at least a day, a client that asks for such a draft gets the reason
    /// `expired`.
    private func end(where condition: SQL) -> SQL {
        signups.end(
            in: "drafts",
            where: condition,
            as: .expired,
            until: "greatest(ends_at, now()) + interval '1 day'"
        )
    }
}
