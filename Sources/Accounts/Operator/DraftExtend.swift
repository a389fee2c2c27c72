package import Foundation

extension Operator {
    /// Gives a draft the lifetimes of a new draft, counted from now, and writes an audit record. Does not extend an
    /// expired draft, because another draft may have taken its username.
    ///
    /// - Returns: the time when the draft now expires, and the time of the database; nil if the draft does not exist,
    ///   is committed, or has expired.
    package func extend(_ id: ID<Draft>) async throws(DatabaseError) -> (expiresAt: Date, now: Date)? {
        let row = try await database.transaction(
            "SELECT 1 FROM drafts WHERE id = \(id) FOR UPDATE",
            """
            WITH extended AS (
                UPDATE drafts
                   SET updated_at = now(), ends_at = now() + make_interval(
                           secs => CASE WHEN flow LIKE '%/%' THEN \(DraftExpiry.ofChange.absolute.seconds)
                                        ELSE \(flow.expiry.absolute.seconds) END)
                 WHERE id = \(id) AND account_id IS NULL AND now() < \(signups.deadline)
                RETURNING id, ends_at, \(signups.deadline) AS deadline
            ), leased AS (
                UPDATE leases SET until = ends_at FROM extended WHERE draft = id
            ), \(audited(.extend, over: "extended", of: "id"))
            SELECT deadline, now() FROM extended
            """
        )[1].first
        guard let row else { return nil }
        let (expiresAt, now) = try row.decode(Date.self, Date.self)
        return (expiresAt, now)
    }
}
