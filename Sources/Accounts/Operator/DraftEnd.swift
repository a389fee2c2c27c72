extension Operator {
    /// Ends one draft; false where there is none that is open.
    package func expire(_ id: ID<Draft>) async throws(DatabaseError) -> Bool {
        let ended = try await database.transaction(
            "SELECT 1 FROM drafts WHERE id = \(id) FOR UPDATE",
            """
            WITH ended AS (
                DELETE FROM drafts WHERE id = \(id) AND account_id IS NULL RETURNING id, flow, step, token_hash, ends_at
            ), \(remembered), \(signups.belongingsGone), \(audited(.expire, over: "ended", of: "id"))
            SELECT \(Funnel.ended())
            """
        )[1].only.decode(String.self)
        try signups.funnel.ended(ended, as: .removed)
        return ended != "[]"
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
            let (number, ended) = try await database.transaction(
                """
                WITH page AS (
                    SELECT id FROM drafts, \(life) WHERE account_id IS NULL AND \(condition(filter))
                     LIMIT 500 FOR UPDATE OF drafts SKIP LOCKED
                ), ended AS (
                    DELETE FROM drafts WHERE id IN (SELECT id FROM page) RETURNING id, flow, step, token_hash, ends_at
                ), \(remembered), \(signups.belongingsGone), \(audited(.purge, over: "ended", of: "id"))
                SELECT (SELECT count(*) FROM ended), \(Funnel.ended())
                """
            )[0].only.decode(Int.self, String.self)
            try signups.funnel.ended(ended, as: .removed)
            count += number
            if number == 0 { return count }
        }
    }

    /// Part of a statement over `ended`: the holders hear that their sign-up has expired.
    private var remembered: SQL {
        """
        remembered AS (
            INSERT INTO endings (token_hash, reason, until)
            SELECT token_hash, 'expired', greatest(ends_at, now()) + interval '1 day' FROM ended ON CONFLICT DO NOTHING
        )
        """
    }
}
