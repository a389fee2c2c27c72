/// The drafts that are neither committed nor expired, grouped by their current step.
package struct DraftBoard: Sendable {
    package let columns: [Column]

    package struct Column: Sendable {
        /// The step at which the drafts are, as in ``DraftSummary/step``.
        package let step: String
        package let count: Int
        /// The newest drafts at this step, newest first.
        package let cards: [DraftSummary]

        package init(step: String, count: Int, cards: [DraftSummary]) {
            (self.step, self.count, self.cards) = (step, count, cards)
        }
    }

    /// Whether ``Operator/board(cards:limit:)`` has read as many drafts as its `limit`. If so, there may be more drafts
    /// than it has counted.
    package let isCut: Bool

    package init(columns: [Column], isCut: Bool = false) {
        (self.columns, self.isCut) = (columns, isCut)
    }
}

extension Operator {
    /// Returns the newest drafts that are neither committed nor expired, grouped by step.
    ///
    /// - Parameters:
    ///   - cards: the maximum number of cards in each column. Further drafts are only counted.
    ///   - limit: the maximum number of drafts that are read and counted.
    package func board(cards: Int = 100, limit: Int = 10_000) async throws(DatabaseError) -> DraftBoard {
        let rows = try await database.transaction(
            """
            WITH unexpired AS MATERIALIZED (
                SELECT id, account_id, step, token_hash, sealed, revision, created_at, updated_at, deadline
                  FROM drafts, \(expiry)
                 WHERE account_id IS NULL AND deadline > now() ORDER BY id DESC LIMIT \(limit)
            ), ranked AS (
                SELECT *, row_number() OVER (PARTITION BY step ORDER BY id DESC) AS rank,
                       count(*) OVER (PARTITION BY step) AS number FROM unexpired
            )
            SELECT \(summary), number FROM ranked WHERE rank <= \(cards) ORDER BY id DESC
            """
        )[0]
        var drafts: [String: [DraftSummary]] = [:]
        var counts: [String: Int] = [:]
        for row in rows {
            var columns = row.columns
            guard let draft = try summary(&columns) else { throw .unexpectedAnswer("a draft has no id") }
            drafts[draft.step, default: []].append(draft)
            counts[draft.step] = try columns.next()
        }
        // Drafts may be at steps of an earlier flow file, or of another flow such as the recovery.
        let known = flow.steps.map(\.name.rawValue)
        let others = drafts.keys.filter { !known.contains($0) && $0 != "review" }.sorted()
        return DraftBoard(
            columns: (known + others + ["review"]).map { step in
                .init(step: step, count: counts[step] ?? 0, cards: drafts[step] ?? [])
            },
            isCut: counts.values.reduce(0, +) >= limit
        )
    }
}
