extension Operator {
    /// Makes one waiting mail due now, with a full set of attempts, and writes an audit record. Returns false if there
    /// is no waiting mail with that id. Delivered and dead mail cannot be sent again, because its content is erased. If
    /// a server is delivering the mail at this moment, the next attempt begins only after the present attempt has
    /// failed, or a minute after it began.
    package func retry(_ id: ID<Outbox>) async throws(DatabaseError) -> Bool {
        try await database.transaction(
            """
            WITH due AS (
                UPDATE outbox SET due_at = now(), turn = now(), attempts = 0
                 WHERE id = \(id) AND state = 'waiting' RETURNING id
            ), \(audited(.retry, over: "due", of: "id"))
            SELECT EXISTS (SELECT FROM due)
            """
        )[0].only.decode(Bool.self)
    }

    /// Makes all mail that waits after a failed attempt due now, with a full set of attempts. Writes one audit record
    /// if there is such mail.
    ///
    /// - Returns: the number of these mails, and of the mails that died in the last day, which cannot be sent again.
    package func flush() async throws(DatabaseError) -> (due: Int, dead: Int) {
        try await database.transaction(
            """
            WITH due AS (
                UPDATE outbox SET due_at = now(), attempts = 0
                 WHERE state = 'waiting' AND due_at > now() AND last_error IS NOT NULL RETURNING id
            ), \(audited(.flush, over: "(SELECT FROM due LIMIT 1) AS one"))
            SELECT (SELECT count(*) FROM due),
                   (SELECT count(*) FROM outbox WHERE state = 'dead' AND finished_at > now() - interval '1 day')
            """
        )[0].only.decode(Int.self, Int.self)
    }
}
