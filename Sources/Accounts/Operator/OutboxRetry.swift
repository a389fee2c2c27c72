extension Operator {
    /// Makes one mail due at once, with all its attempts before it; false where none waits under that id. Those that are
    /// finished keep nothing that could be sent. One that is on its way at this moment may come twice.
    package func retry(_ id: ID<Outbox>) async throws(DatabaseError) -> Bool {
        try await database.transaction(
            """
            WITH due AS (
                UPDATE outbox SET due_at = now(), attempts = 0 WHERE id = \(id) AND state = 'waiting' RETURNING id
            ), \(audited(.retry, over: "due", of: "id"))
            SELECT EXISTS (SELECT FROM due)
            """
        )[0].only.decode(Bool.self)
    }

    /// Makes all mail due at once that failed and waits for its next attempt, with all its attempts before it, and returns
    /// how many there are.
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
