extension Operator {
    /// Makes one waiting mail due now and resets its attempts. Returns false if there is no waiting mail with that id:
    /// delivered and dead mail has no content. A mail that is in delivery at this moment may arrive twice.
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

    /// Makes all failed mail that waits for its next attempt due now, resets its attempts, and returns the number of
    /// mails.
    package func flush() async throws(DatabaseError) -> Int {
        try await database.transaction(
            """
            WITH due AS (
                UPDATE outbox SET due_at = now(), attempts = 0
                 WHERE state = 'waiting' AND due_at > now() AND last_error IS NOT NULL RETURNING id
            ), \(audited(.flush, over: "(SELECT FROM due LIMIT 1) AS one"))
            SELECT count(*) FROM due
            """
        )[0].only.decode(Int.self)
    }
}
