extension Operator {
    /// Ends one draft; false where there is none that is open.
    package func expire(_ id: ID<Draft>) async throws(DatabaseError) -> Bool {
        let rows = try await database.transaction(
            ["SELECT 1 FROM drafts WHERE id = \(id) FOR UPDATE", end(where: "id = \(id) AND account_id IS NULL")]
                + [auditEnded(.expire)] + Signups.deleteBelongings
        )
        return try signups.countEnded(rows[1], as: .removed)
    }

    /// How many open drafts ``purge(_:)`` would end.
    package func count(_ filter: DraftFilter) async throws(DatabaseError) -> Int {
        try await database.read(
            "SELECT count(*) FROM drafts, \(life) WHERE account_id IS NULL AND \(condition(filter))"
        ).only.decode(Int.self)
    }

    /// Ends all open drafts that the filter means, in batches, and returns how many. Those that somebody writes to at the
    /// moment stay.
    package func purge(_ filter: DraftFilter) async throws(DatabaseError) -> Int {
        var count = 0
        while true {
            let batch: SQL = """
                id = ANY (ARRAY(SELECT id FROM drafts, \(life) WHERE account_id IS NULL AND \(condition(filter))
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

    /// The holders read that their sign-up has expired.
    private func end(where condition: SQL) -> SQL {
        signups.end(
            in: "drafts",
            where: condition,
            as: .expired,
            until: "greatest(ends_at, now()) + interval '1 day'"
        )
    }
}
