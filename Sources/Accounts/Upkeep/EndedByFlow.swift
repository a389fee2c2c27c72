extension Signups {
    /// The number of unfinished sign-ups, and the number of them that a server with this flow would end as soon as it
    /// starts, although earlier servers have kept them.
    package struct EndedByFlow: Equatable, Sendable {
        package let drafts: Int
        package let ended: Int

        /// Whether more than a tenth of the sign-ups would end.
        package var isTooMany: Bool { ended * 10 > drafts }
    }

    /// Counts the sign-ups that this flow would end, because its idle time is shorter than that of earlier servers.
    ///
    /// Servers erase expired drafts within minutes, and a server ran at the latest change of any draft. If a draft
    /// still exists although, with this flow, it had expired more than an hour before that change, servers with a
    /// longer idle time have kept the draft. Drafts that expired later do not count: they may have expired in an
    /// outage, when no server erased them.
    ///
    /// If there are so many drafts that the count takes longer than ten seconds, throws an error whose
    /// ``DatabaseError/isTemporary`` is true.
    package func endedByFlow() async throws(DatabaseError) -> EndedByFlow {
        let row = try await database.transaction(
            .setting("statement_timeout", "10s"),
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
