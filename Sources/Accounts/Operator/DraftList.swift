package import Foundation

package enum DraftState: String, CaseIterable, Sendable {
    /// Something is missing.
    case open
    /// Nothing more is asked; the commit, or a last look at optional steps, is left.
    case review
    /// It ended, and waits to be erased.
    case expired
    case committed
}

/// Which drafts are meant; all of them where nothing is said.
package struct DraftFilter: Sendable {
    package var state: DraftState?
    package var step: String?
    /// Begun longer ago.
    package var olderThan: Duration?
    /// In its canonical form. Committed drafts have no address any more.
    package var email: String?

    package init(state: DraftState? = nil, step: String? = nil, olderThan: Duration? = nil, email: String? = nil) {
        self.state = state
        self.step = step
        self.olderThan = olderThan
        self.email = email
    }
}

/// A draft in a list.
package struct DraftSummary: Sendable {
    package let id: ID<Draft>
    package let state: DraftState
    /// The first that is not met.
    package let step: String
    /// Masked; nil where there is none, or the key to it is gone.
    package let address: String?
    package let revision: Int
    /// Wrong codes so far.
    package let failures: Int
    package let createdAt, updatedAt, expiresAt: Date
    /// The database's clock.
    package let now: Date
}

extension Operator {
    /// The newest drafts that the filter means, newest first.
    package func drafts(_ filter: DraftFilter, limit: Int) async throws(DatabaseError) -> [DraftSummary] {
        let rows = try await database.read(
            """
            SELECT \(summary), 0 FROM drafts, \(life) WHERE \(condition(filter)) ORDER BY id DESC LIMIT \(limit)
            """
        )
        var drafts: [DraftSummary] = []
        for row in rows { drafts.append(try summary(of: row).draft) }
        return drafts
    }

    /// The columns of a draft in a list, over `drafts` and its `deadline`.
    var summary: SQL {
        """
        id, \(state), step, sealed, revision, created_at, updated_at, deadline, now(),
        (SELECT coalesce(sum(failures), 0)::bigint FROM proofs WHERE draft = id)
        """
    }

    /// Those columns, and one number after them.
    func summary(of row: Row) throws(DatabaseError) -> (draft: DraftSummary, number: Int) {
        let (id, state, step, sealed, revision, createdAt, updatedAt, expiresAt, now, failures, number) =
            try row.decode(
                ID<Draft>.self,
                String.self,
                String.self,
                [UInt8].self,
                Int.self,
                Date.self,
                Date.self,
                Date.self,
                Date.self,
                Int.self,
                Int.self
            )
        let address = signups.open(sealed, of: id).flatMap { signups.identifyingAddress(in: $0) }
        let draft = DraftSummary(
            id: id,
            state: DraftState(rawValue: state) ?? .open,
            step: step,
            address: address.map(EmailField.masked),
            revision: revision,
            failures: failures,
            createdAt: createdAt,
            updatedAt: updatedAt,
            expiresAt: expiresAt,
            now: now
        )
        return (draft, number)
    }

    /// Until when a draft lives, or its token leads to the account.
    var life: SQL {
        "LATERAL (SELECT CASE WHEN account_id IS NULL THEN \(signups.deadline) ELSE ends_at END AS deadline) AS life"
    }

    private var state: SQL {
        """
        CASE WHEN account_id IS NOT NULL THEN 'committed' WHEN deadline <= now() THEN 'expired'
             WHEN step = 'review' THEN 'review' ELSE 'open' END
        """
    }

    /// Over the columns of `drafts` and its `deadline`.
    func condition(_ filter: DraftFilter) -> SQL {
        var all: SQL = "true"
        if let wanted = filter.state {
            all = "\(all) AND \(state) = \(wanted.rawValue)"
            // Their index has no others.
            if wanted != .committed { all = "\(all) AND account_id IS NULL" }
        }
        if let step = filter.step { all = "\(all) AND step = \(step)" }
        if let age = filter.olderThan { all = "\(all) AND created_at < now() - make_interval(secs => \(age.seconds))" }
        if let email = filter.email {
            all = "\(all) AND email_digest = ANY (\(ByteStrings(signups.addressDigests(email))))"
        }
        return all
    }
}
