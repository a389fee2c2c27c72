/// The unfinished sign-ups that live, by the step where they stand.
package struct DraftBoard: Sendable {
    package let columns: [Column]

    package struct Column: Sendable {
        /// A step, or `review`.
        package let step: String
        package let count: Int
        /// The newest, newest first.
        package let cards: [DraftSummary]

        package init(step: String, count: Int, cards: [DraftSummary]) {
            (self.step, self.count, self.cards) = (step, count, cards)
        }
    }

    /// Whether there may be more than were looked at.
    package let isCut: Bool

    package init(columns: [Column], isCut: Bool = false) {
        (self.columns, self.isCut) = (columns, isCut)
    }
}

extension Operator {
    /// The newest sign-ups, by step.
    ///
    /// - Parameters:
    ///   - cards: how many of each step at most.
    ///   - limit: how many are looked at in all; counts are of these.
    package func board(cards: Int = 100, limit: Int = 10_000) async throws(DatabaseError) -> DraftBoard {
        let rows = try await database.transaction(
            """
            WITH alive AS MATERIALIZED (
                SELECT id, account_id, step, sealed, revision, created_at, updated_at, deadline FROM drafts, \(life)
                 WHERE account_id IS NULL AND deadline > now() ORDER BY id DESC LIMIT \(limit)
            ), placed AS (
                SELECT *, row_number() OVER (PARTITION BY step ORDER BY id DESC) AS place,
                       count(*) OVER (PARTITION BY step) AS number FROM alive
            )
            SELECT \(summary), number FROM placed WHERE place <= \(cards) ORDER BY id DESC
            """
        )[0]
        var drafts: [String: [DraftSummary]] = [:]
        var counts: [String: Int] = [:]
        for row in rows {
            let (draft, number) = try summary(of: row)
            drafts[draft.step, default: []].append(draft)
            counts[draft.step] = number
        }
        // Steps that left the flow meanwhile still have people on them.
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
