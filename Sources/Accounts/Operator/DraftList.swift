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
            SELECT id, \(state), step, sealed, revision, created_at, updated_at, deadline, now(),
                   (SELECT coalesce(sum(failures), 0)::bigint FROM proofs WHERE draft = drafts.id)
              FROM drafts, \(life) WHERE \(condition(filter)) ORDER BY id DESC LIMIT \(limit)
            """
        )
        var drafts: [DraftSummary] = []
        for row in rows {
            let (id, state, step, sealed, revision, createdAt, updatedAt, expiresAt, now, failures) = try row.decode(
                ID<Draft>.self,
                String.self,
                String.self,
                [UInt8].self,
                Int.self,
                Date.self,
                Date.self,
                Date.self,
                Date.self,
                Int.self
            )
            let address = signups.open(sealed, of: id).flatMap { signups.identifyingAddress(in: $0) }
            drafts.append(
                DraftSummary(
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
            )
        }
        return drafts
    }

    /// Until when a draft lives, or its token leads to the account.
    private var life: SQL {
        "LATERAL (SELECT CASE WHEN account_id IS NULL THEN \(signups.deadline) ELSE ends_at END AS deadline) AS life"
    }

    private var state: SQL {
        """
        CASE WHEN account_id IS NOT NULL THEN 'committed' WHEN deadline <= now() THEN 'expired'
             WHEN step = 'review' THEN 'review' ELSE 'open' END
        """
    }

    /// Over the columns of `drafts` and its `deadline`.
    private func condition(_ filter: DraftFilter) -> SQL {
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

    // MARK: - What ends drafts

    /// Ends one draft; false where there is none that is open.
    package func expire(_ id: ID<Draft>) async throws(DatabaseError) -> Bool {
        try await database.transaction(
            "SELECT 1 FROM drafts WHERE id = \(id) FOR UPDATE",
            """
            WITH ended AS (
                DELETE FROM drafts WHERE id = \(id) AND account_id IS NULL RETURNING id, token_hash, ends_at
            ), \(remembered), \(signups.belongingsGone), \(audited(.expire, over: "ended", of: "id"))
            SELECT EXISTS (SELECT FROM ended)
            """
        )[1].only.decode(Bool.self)
    }

    /// How many open drafts ``purge(_:)`` would end.
    package func count(_ filter: DraftFilter) async throws(DatabaseError) -> Int {
        try await database.read(
            "SELECT count(*) FROM drafts, \(life) WHERE account_id IS NULL AND \(condition(filter))"
        ).only.decode(Int.self)
    }

    /// Ends all open drafts that the filter means, in batches, and returns how many. Those that somebody writes to at the
    /// moment stay.
    package func purge(_ filter: DraftFilter) async throws(DatabaseError) -> Int {
        var count = 0
        while true {
            let ended = try await database.transaction(
                """
                WITH page AS (
                    SELECT id FROM drafts, \(life) WHERE account_id IS NULL AND \(condition(filter))
                     LIMIT 500 FOR UPDATE OF drafts SKIP LOCKED
                ), ended AS (
                    DELETE FROM drafts WHERE id IN (SELECT id FROM page) RETURNING id, token_hash, ends_at
                ), \(remembered), \(signups.belongingsGone), \(audited(.purge, over: "ended", of: "id"))
                SELECT count(*) FROM ended
                """
            )[0].only.decode(Int.self)
            count += ended
            if ended == 0 { return count }
        }
    }

    /// Part of a statement over `ended`: the holders hear that their sign-up has expired.
    private var remembered: SQL {
        """
        remembered AS (
            INSERT INTO endings (token_hash, reason, until)
            SELECT token_hash, 'expired', greatest(ends_at, now()) + interval '1 day' FROM ended ON CONFLICT DO NOTHING
        )
        """
    }

    /// Gives a draft its whole time anew, as if it had begun now. One that expired does not come back: its name may be
    /// another's by now.
    ///
    /// - Returns: when it ends now; nil where there is none that is open.
    package func extend(_ id: ID<Draft>) async throws(DatabaseError) -> (expiresAt: Date, now: Date)? {
        let row = try await database.transaction(
            "SELECT 1 FROM drafts WHERE id = \(id) FOR UPDATE",
            """
            WITH extended AS (
                UPDATE drafts SET updated_at = now(), ends_at = now() + make_interval(secs => \(signups.flow.absolute.seconds))
                 WHERE id = \(id) AND account_id IS NULL AND now() < \(signups.deadline) RETURNING id, ends_at, \(signups.deadline) AS deadline
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
