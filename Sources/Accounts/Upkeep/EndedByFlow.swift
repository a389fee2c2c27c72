extension Signups {
    /// The number of unfinished sign-ups, and how many of them a server with this flow would end as soon as it starts,
    /// although the servers before it have kept them.
    package struct EndedByFlow: Equatable, Sendable {
        package let drafts: Int
        package let ended: Int

        /// Whether more than a tenth would end.
        package var isTooMany: Bool { ended * 10 > drafts }
    }

    /// Counts the sign-ups that this flow would end, because its idle time is shorter than that of the servers before.
    ///
    /// Servers erase expired drafts within minutes. The latest change of any draft shows when a server last ran. So a
    /// draft was kept by servers with a longer idle time if it still exists although, with this flow, it had expired
    /// more than an hour before that change. Drafts that expired later do not count: they may have expired in an
    /// outage, when no server erased them.
    ///
    /// Throws a temporary error if there are so many drafts that the count takes longer than ten seconds.
    package func endedByFlow() async throws(DatabaseError) -> EndedByFlow {
        let row = try await database.transaction(
            "SET LOCAL statement_timeout = '10s'",
            """
            SELECT count(*), count(*) FILTER (WHERE \(deadline) < last.change - interval '1 hour')
              FROM drafts, (SELECT max(updated_at) AS change FROM drafts) AS last
             WHERE account_id IS NULL AND flow NOT LIKE '%/%'
            """
        )[1].only
        let (drafts, ended) = try row.decode(Int.self, Int.self)
        return EndedByFlow(drafts: drafts, ended: ended)
    }
}
