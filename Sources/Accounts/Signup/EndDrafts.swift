extension Signups {
    /// A statement that deletes drafts, and remembers for their tokens why. ``deleteBelongings`` has to follow it, and
    /// ``countEnded(_:as:)`` reads what it returns.
    ///
    /// - Parameters:
    ///   - until: for how long the reason is remembered.
    ///   - others: selects the ids of drafts that lose their belongings as well.
    func end(
        in table: SQL,
        where condition: SQL,
        as reason: Termination,
        until: SQL = "ends_at + interval '1 day'",
        erasingAlso others: SQL = "SELECT NULL::uuid WHERE false"
    ) -> SQL {
        """
        WITH ended AS (
            DELETE FROM \(table) WHERE \(condition) RETURNING id, flow, step, token_hash, ends_at
        ), remembered AS (
            INSERT INTO endings (token_hash, reason, until)
            SELECT token_hash, \(reason.rawValue), \(until) FROM ended ON CONFLICT DO NOTHING
        )
        SELECT \(Funnel.ended()), \(Self.rememberEnded("SELECT id FROM ended UNION ALL \(others)"))
        """
    }

    /// An expression that keeps the ids of the drafts whose belongings ``deleteBelongings`` deletes.
    static func rememberEnded(_ ids: SQL) -> SQL {
        "set_config('signup.ended', ARRAY(\(ids))::text, true)"
    }

    /// The ids that ``rememberEnded(_:)`` has kept in the present transaction.
    static let ended: SQL = "current_setting('signup.ended')::uuid[]"

    /// The statements that delete what belongs to the drafts that ended, and the mail that has no use any more.
    static let deleteBelongings: [SQL] = {
        let mails: SQL = """
            SELECT mail FROM proofs WHERE draft = ANY (\(ended))
            UNION ALL SELECT mail FROM handoffs WHERE draft = ANY (\(ended))
            """
        let tables = ["handoffs"] + Kinds.all.flatMap { $0.draftTables }
        return [deleteWaiting(mails)]
            + tables.map { "DELETE FROM \(SQL(stringLiteral: $0)) WHERE draft = ANY (\(ended))" }
    }()

    /// Counts the drafts that ``end(in:where:as:until:erasingAlso:)`` has deleted; false where there was none.
    func countEnded(_ rows: Rows, as outcome: Funnel.Outcome) throws(DatabaseError) -> Bool {
        let (list, _) = try rows.only.decode(String.self, String.self)
        try funnel.ended(list, as: outcome)
        return list != "[]"
    }
}
