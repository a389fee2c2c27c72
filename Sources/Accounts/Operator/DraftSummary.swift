package import Foundation

package enum DraftState: String, CaseIterable, Sendable {
    /// At least one step is not finished.
    case open
    /// All steps are finished; only the commit is left.
    case review
    /// The draft has expired, but is still stored.
    case expired
    case committed
}

/// Selects drafts. A property that is nil does not restrict the selection.
package struct DraftFilter: Sendable {
    package var state: DraftState?
    package var step: String?
    /// Selects drafts whose age is at most this.
    package var since: Duration?
    /// Selects drafts whose age is more than this.
    package var olderThan: Duration?
    /// Selects drafts whose last change is at least this long ago.
    package var idle: Duration?
    /// Selects drafts with this address. Committed drafts never match, because they no longer have an address.
    package var email: EmailAddress?

    package init(
        state: DraftState? = nil,
        step: String? = nil,
        since: Duration? = nil,
        olderThan: Duration? = nil,
        idle: Duration? = nil,
        email: EmailAddress? = nil
    ) {
        self.state = state
        self.step = step
        self.since = since
        self.olderThan = olderThan
        self.idle = idle
        self.email = email
    }
}

/// A draft in a list.
package struct DraftSummary: Sendable {
    package let id: ID<Draft>
    package let state: DraftState
    /// The next step at the time of the latest change, such as `email`; `review` if only the commit is left, or
    /// `committed`. A step of a recovery or a change of address begins with the name of that flow: `recovery/code`.
    package let step: String
    /// The masked address; nil if the draft has none or cannot be decrypted.
    package let address: String?
    package let revision: Int
    /// The number of wrong mailed codes that were entered in the draft.
    package let failures: Int
    package let createdAt, updatedAt, expiresAt: Date
    /// The time of the database.
    package let now: Date
    /// Whether the values, with the address, cannot be decrypted.
    package var isSealed = false

    /// The condition that a row of `drafts` needs only its commit: its step is `review`, or in another flow than the
    /// sign-up, for example, `recovery/review`.
    static let isAtReview: SQL = "(step = 'review' OR step LIKE '%/review')"
}

extension Operator {
    /// Returns one page of the drafts that match the filter. A search for an address writes audit records.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of drafts on the page.
    ///   - cursor: the last draft of the previous page, in a list with the same order; nil for the first page.
    package func drafts(
        _ filter: DraftFilter,
        by order: DraftOrder = .created,
        limit: Int,
        after cursor: DraftCursor? = nil
    ) async throws(DatabaseError) -> ListPage<DraftSummary> {
        precondition(cursor.map { $0.order == order } ?? true, "the cursor is of a list with another order")
        let matching: SQL = "drafts, \(expiry) WHERE \(condition(filter))"
        let rest: SQL = cursor.map { "\(matching) AND \($0.condition)" } ?? matching
        let select = ListPage<DraftSummary>.select(
            summary,
            from: matching,
            after: cursor?.condition,
            by: order.columns,
            limit: limit
        )
        let rows = try await search(filter, select, over: "\(rest) ORDER BY \(order.columns) LIMIT \(limit)")
        return try ListPage(
            rows,
            limit: limit,
            cursor: { DraftCursor($0, in: order).description }
        ) { columns throws(DatabaseError) in try summary(&columns) }
    }

    /// Whether a draft is at a step with that name. The flow that is loaded may lack the step, because drafts may be at
    /// steps of an earlier version of it.
    package func hasDrafts(at step: String) async throws(DatabaseError) -> Bool {
        try await !database.read("SELECT FROM drafts WHERE step = \(step) LIMIT 1").isEmpty
    }

    /// Runs `statement` and returns its rows. If the filter has an address, first writes an audit record for each
    /// matching draft, or one record if no draft matches.
    ///
    /// - Parameter matching: the text after `FROM` in a query for the matching drafts.
    func search(_ filter: DraftFilter, _ statement: SQL, over matching: SQL) async throws(DatabaseError) -> Rows {
        if filter.email == nil { return try await database.read(statement) }
        let audit: SQL = """
            WITH found AS (SELECT id FROM \(matching)), \(auditedSearch(.findDrafts, in: "found", of: "id")) SELECT 1
            """
        return try await database.transaction(audit, statement)[1]
    }

    /// The columns of ``DraftSummary``, selected from `drafts` and ``expiry``.
    var summary: SQL {
        """
        id, \(state) AS state, step, token_hash, sealed, revision, created_at, updated_at, deadline, now() AS time,
        (SELECT coalesce(sum(failures), 0)::bigint FROM proofs WHERE draft = id)
        """
    }

    /// Decodes the columns of ``summary``; returns nil if they are NULL.
    func summary(_ columns: inout Columns) throws(DatabaseError) -> DraftSummary? {
        guard let id = try columns.next(ID<Draft>?.self) else { return nil }
        let (state, step): (String, String) = (try columns.next(), try columns.next())
        let (tokenHash, sealed): ([UInt8], [UInt8]) = (try columns.next(), try columns.next())
        let revision: Int = try columns.next()
        let place = SealedPlace.draft(id, tokenHash: tokenHash, revision: revision)
        let values = signups.open(sealed, at: place)
        let (createdAt, updatedAt): (Date, Date) = (try columns.next(), try columns.next())
        let (expiresAt, now): (Date, Date) = (try columns.next(), try columns.next())
        return DraftSummary(
            id: id,
            state: DraftState(rawValue: state) ?? .open,
            step: step,
            address: values.flatMap { signups.identifyingAddress(in: $0) }?.masked,
            revision: revision,
            failures: try columns.next(),
            createdAt: createdAt,
            updatedAt: updatedAt,
            expiresAt: expiresAt,
            now: now,
            // The commit empties `sealed`, unless the person returns to an application or a page afterwards.
            isSealed: values == nil && !sealed.isEmpty
        )
    }

    /// A lateral join with the column `deadline`: the time when a draft expires or, for a committed draft, when its
    /// token expires.
    var expiry: SQL {
        "LATERAL (SELECT CASE WHEN account_id IS NULL THEN \(signups.deadline) ELSE ends_at END AS deadline) AS expiry"
    }

    private var state: SQL {
        """
        CASE WHEN account_id IS NOT NULL THEN 'committed' WHEN deadline <= now() THEN 'expired'
             WHEN \(DraftSummary.isAtReview) THEN 'review' ELSE 'open' END
        """
    }

    /// A condition on the columns of `drafts` and ``expiry``.
    func condition(_ filter: DraftFilter) -> SQL {
        var all: SQL = "true"
        if let wantedState = filter.state {
            all = "\(all) AND \(state) = \(wantedState.rawValue)"
            // Lets PostgreSQL use the index `drafts_open`, which has only drafts that are not committed.
            if wantedState != .committed { all = "\(all) AND account_id IS NULL" }
        }
        if let step = filter.step { all = "\(all) AND step = \(step)" }
        if let age = filter.since { all = "\(all) AND created_at >= now() - make_interval(secs => \(age.seconds))" }
        if let age = filter.olderThan { all = "\(all) AND created_at < now() - make_interval(secs => \(age.seconds))" }
        if let time = filter.idle { all = "\(all) AND updated_at <= now() - make_interval(secs => \(time.seconds))" }
        if let email = filter.email {
            all = "\(all) AND email_digest = ANY (\(ByteStrings(signups.addressDigests(email))))"
        }
        return all
    }
}
