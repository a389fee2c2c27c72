extension Signups {
    /// Returns a statement that deletes drafts, and stores for their tokens the reason why they ended.
    /// ``deleteBelongings`` or ``deleteBelongingsExceptCodes`` must follow in the same transaction.
    /// ``countEnded(_:as:)`` reads the result.
    ///
    /// - Parameters:
    ///   - until: the time until which the reason is stored, as SQL.
    ///   - others: a query for the ids of drafts that do not end, but whose rows in other tables are also deleted.
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
        ), stored_reason AS (
            INSERT INTO endings (token_hash, reason, until)
            SELECT token_hash, \(reason.rawValue), \(until) FROM ended ON CONFLICT DO NOTHING
        )
        SELECT \(Funnel.ended()), \(Self.rememberEnded("SELECT id FROM ended UNION ALL \(others)"))
        """
    }

    /// An expression that stores the ids of the drafts for ``deleteBelongings``.
    static func rememberEnded(_ ids: SQL) -> SQL {
        "set_config('signup.ended', ARRAY(\(ids))::text, true)"
    }

    /// The ids that ``rememberEnded(_:)`` has stored in the current transaction.
    static let ended: SQL = "current_setting('signup.ended')::uuid[]"

    /// The statements that delete what belongs to the ended drafts, and their waiting mail with a code or a link.
    /// Waiting notices to owners of accounts stay.
    static let deleteBelongings = deleteRows(
        andMails: "\(mailsWithLinks) UNION ALL SELECT mail FROM proofs WHERE draft = ANY (\(ended))"
    )

    /// Like ``deleteBelongings``, but does not delete mail with a code that still waits for delivery. Except for an
    /// address change, such a mail also contains a ``Ticket``, with which the owner of the address gets another code
    /// even after strangers have used up the mail limits of the address. If the mail were deleted, a stranger could use
    /// up these limits and cancel each sign-up before its mail is sent, so that the owner would get no ticket.
    static let deleteBelongingsExceptCodes = deleteRows(andMails: mailsWithLinks)

    private static let mailsWithLinks: SQL = "SELECT mail FROM handoffs WHERE draft = ANY (\(ended))"

    private static func deleteRows(andMails mails: SQL) -> [SQL] {
        let tables = ["handoffs"] + KindList.all.flatMap { $0.draftTables }
        return [deleteWaiting(mails)]
            + tables.map { "DELETE FROM \(SQL(stringLiteral: $0)) WHERE draft = ANY (\(ended))" }
    }

    /// Counts, in the ``Funnel``, the drafts that ``end(in:where:as:until:erasingAlso:)`` has deleted. Returns false if
    /// there was none.
    func countEnded(_ rows: Rows, as outcome: Funnel.Outcome) throws(DatabaseError) -> Bool {
        let (list, _) = try rows.only.decode(String.self, String.self)
        try funnel.ended(list, as: outcome)
        return list != "[]"
    }
}
