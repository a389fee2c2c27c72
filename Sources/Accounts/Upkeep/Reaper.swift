internal import Foundation
package import Logging
internal import ServiceLifecycle

/// Erases expired drafts with what belongs to them, and other expired rows. Waiting mail with a code stays
/// (``Signups/deleteBelongingsExceptCodes``).
///
/// It works in small batches, so that no request waits long, and skips rows that requests have locked. The commit of a
/// batch does not wait until the write-ahead log is on disk: rows that return after a crash are erased again later.
/// After each batch of the drafts of a day, the reaper pauses four times as long as the batch took, at most a second.
/// Any number of servers may run it: while one of them runs a batch, the batches of the others do nothing.
package struct Reaper: Sendable {
    private let signups: Signups
    private let logger: Logger
    private let restFactor: Int
    private let maximumDuration: Duration
    private var database: Database { signups.database }

    /// - Parameters:
    ///   - restFactor: the pause after a batch of drafts, as a multiple of the duration of the batch. It is at most a
    ///     second.
    ///   - maximumDuration: the time after which a sweep takes at most one batch from each remaining day of drafts, so
    ///     that it also erases the other rows after a flood of drafts.
    package init(
        signups: Signups,
        restFactor: Int = 4,
        maximumDuration: Duration = .seconds(300),
        logger: Logger
    ) {
        self.signups = signups
        self.restFactor = restFactor
        self.maximumDuration = maximumDuration
        self.logger = logger
    }

    /// The numbers of rows that a sweep has erased, and of partitions that it has dropped.
    package struct Erased: Hashable, Sendable {
        package var drafts = 0
        /// Rows of the other tables, such as limits, endings, leases and mails.
        package var rows = 0
        /// Dropped partitions, one per day of drafts.
        package var partitions = 0
    }

    /// The maximum number of drafts of a day that one statement reads. The text of the statement contains this number,
    /// so that PostgreSQL plans for it.
    private static let batch = 50
    /// The number of pages of a table that one statement reads.
    private static let pages = 500

    /// Runs one sweep. If one part fails, the others continue, and the first error is thrown at the end.
    package func sweep() async throws(DatabaseError) -> Erased {
        let start = ContinuousClock.now
        var erased = Erased()
        var failure: DatabaseError?
        func attempt(_ act: () async throws(DatabaseError) -> Void) async {
            do throws(DatabaseError) { try await act() } catch { failure = failure ?? error }
        }
        await attempt { () throws(DatabaseError) in erased.drafts = try await eraseExpiredDrafts() }
        for (table, condition) in Self.expiredRows {
            await attempt { () throws(DatabaseError) in erased.rows += try await erase(from: table, where: condition) }
        }
        await attempt { () throws(DatabaseError) in erased.drafts += try await eraseExpiredChanges() }
        for (table, condition, order) in Self.indexedRows {
            await attempt { () throws(DatabaseError) in
                erased.rows += try await eraseByIndex(from: table, where: condition, by: order)
            }
        }
        await attempt { () throws(DatabaseError) in erased.rows += try await releaseAddresses() }
        await attempt { () throws(DatabaseError) in erased.partitions = try await dropPastPartitions() }
        let metrics = signups.metrics
        metrics.erased.add(erased.rows, "rows")
        metrics.erased.add(erased.partitions, "partitions")
        if let failure { throw failure }
        metrics.sweeps.record(ContinuousClock.now - start)
        return erased
    }

    // MARK: - Drafts

    /// Erases expired drafts day by day. Each statement names the partition of the day, because a statement on `drafts`
    /// opens all partitions each time.
    private func eraseExpiredDrafts() async throws(DatabaseError) -> Int {
        let end = ContinuousClock.now + maximumDuration
        let names = try await database.read(
            """
            SELECT relname::text FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
             WHERE inhparent = 'drafts'::regclass ORDER BY relname
            """
        )
        var count = 0
        var failure: DatabaseError?
        for row in names where !Task.isShuttingDownGracefully {
            let name = try row.decode(String.self)
            do throws(DatabaseError) {
                try await eraseExpiredDrafts(in: SQL(stringLiteral: "\(name) AS drafts"), until: end, &count)
            } catch {
                // Another server may have dropped the partition. If this cannot be found out, the error counts.
                let exists = try? await database.read("SELECT to_regclass(\(name)::text) IS NOT NULL").only
                    .decode(Bool.self)
                if exists != false { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
        return count
    }

    /// Erases expired drafts of flows other than the sign-up, such as recoveries. An index finds these drafts.
    private func eraseExpiredChanges() async throws(DatabaseError) -> Int {
        var count = 0
        while !Task.isShuttingDownGracefully {
            let row = try await database.transaction(
                [
                    Self.withoutFlush,
                    """
                    WITH \(Self.lock), expired AS (
                        SELECT id FROM drafts
                         WHERE flow LIKE '%/%' AND account_id IS NULL AND \(signups.deadline) <= now()
                           AND (SELECT acquired FROM reaper_lock)
                         ORDER BY ends_at LIMIT \(Self.maximumRows) FOR UPDATE SKIP LOCKED
                    ), ended AS (
                        DELETE FROM drafts WHERE \(Self.isIn("expired")) RETURNING id, flow, step
                    )
                    SELECT (SELECT count(*) FROM ended), \(Funnel.ended()),
                           \(Signups.rememberEnded("SELECT id FROM ended"))
                    """,
                ] + Signups.deleteBelongingsExceptCodes
            )[1].only
            let (erased, ended, _) = try row.decode(Int.self, String.self, String.self)
            try signups.funnel.ended(ended, as: .expired)
            signups.metrics.erased.add(erased, "drafts")
            count += erased
            if erased < Self.maximumRows { break }
        }
        return count
    }

    /// Erases expired drafts in the order of their ids, which begin with the time when they were made. Leaves out
    /// drafts whose id was made within the idle time of a sign-up. Of these, only drafts of other flows can have
    /// expired, and ``eraseExpiredChanges()`` erases them. Runs at least one batch, even after `end`.
    private func eraseExpiredDrafts(
        in table: SQL,
        until end: ContinuousClock.Instant,
        _ count: inout Int
    ) async throws(DatabaseError) {
        var last = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        repeat {
            let start = ContinuousClock.now
            let selectPage: SQL = """
                WITH \(Self.lock), page AS (
                    SELECT id FROM \(table)
                     WHERE account_id IS NULL AND (SELECT acquired FROM reaper_lock)
                       AND id > \(last)
                       AND id < draft_id_floor(now() - make_interval(secs => \(signups.flow.expiry.idle.seconds)))
                     ORDER BY id LIMIT \(SQL(stringLiteral: "\(Self.batch)"))
                )
                SELECT (SELECT count(*) FROM page), (SELECT id FROM page ORDER BY id DESC LIMIT 1),
                       set_config('signup.page', ARRAY(SELECT id FROM page)::text, true)
                """
            let eraseExpired: SQL = """
                WITH expired AS (
                    SELECT id FROM \(table)
                     WHERE \(Self.isIn(Self.page)) AND account_id IS NULL AND \(signups.deadline) <= now()
                       FOR UPDATE SKIP LOCKED
                ), ended AS (
                    DELETE FROM \(table) WHERE \(Self.isIn("expired"))
                    RETURNING id, flow, step, token_hash, created_at, ends_at
                ), stored_reason AS (
                    INSERT INTO endings (token_hash, reason, until)
                    SELECT token_hash, 'expired', ends_at + interval '1 day' FROM ended
                     WHERE ends_at > now() - interval '1 day'
                       AND ends_at > created_at + \(maximumLifetime) + interval '1 minute'
                    ON CONFLICT DO NOTHING
                )
                SELECT (SELECT count(*) FROM ended), \(Funnel.ended()), \(Signups.rememberEnded("SELECT id FROM ended"))
                """
            let rows = try await database.transaction(
                [Self.withoutFlush, selectPage, eraseExpired] + Signups.deleteBelongingsExceptCodes
            )
            let (pageCount, lastID, _) = try rows[1].only.decode(Int.self, UUID?.self, String.self)
            let (erased, ended, _) = try rows[2].only.decode(Int.self, String.self, String.self)
            try signups.funnel.ended(ended, as: .expired)
            signups.metrics.erased.add(erased, "drafts")
            count += erased
            try? await Task.sleep(for: min((ContinuousClock.now - start) * restFactor, .seconds(1)))
            guard let lastID, pageCount == Self.batch else { return }
            last = lastID
        } while ContinuousClock.now < end && !Task.isShuttingDownGracefully
    }

    /// The ids of the batch of drafts that the current transaction has read, as a table.
    private static let page: SQL = "unnest(current_setting('signup.page')::uuid[]) AS id"

    /// Returns the condition that the id is in the list. The condition is not a join, because PostgreSQL would plan a
    /// join again for each batch, and the planning takes longer than the batch.
    private static func isIn(_ list: SQL) -> SQL { "id = ANY (ARRAY(SELECT id FROM \(list)))" }

    /// The maximum lifetime of a draft that no operator has extended. The id in the token of such a draft shows when
    /// the draft was created, so the reason `expired` need not be stored.
    private var maximumLifetime: SQL { "make_interval(secs => \(signups.flow.expiry.absolute.seconds))" }

    // MARK: - Other expired rows

    private static let expiredRows: [(table: String, condition: SQL)] = [
        ("limits", "until < now()"),
        ("endings", "until < now()"),
        ("leases", "until < now()"),
        ("funnel_daily", SQL(stringLiteral: "day < now() - interval '\(FunnelReport.daysKept) days'")),
        ("handoffs", "expires_at < now()"),
        ("tickets", "expires_at < now()"),
        ("sign_ins", "expires_at < now()"),
        ("sign_in_failures", "until < now()"),
        ("address_changes", "expires_at < now()"),
        ("pushed_requests", "expires_at < now()"),
        ("signing_keys", SigningKeyStore.isExpired),
        ("logouts", "created_at < now() - interval '25 hours'"),
        // Mail that was given up (`dead`) is kept longer, for operators.
        (
            "outbox",
            "finished_at < now() - CASE state WHEN 'dead' THEN interval '30 days' ELSE interval '1 day' END"
        ),
        // `drafts_other` is never dropped. It has the drafts whose id comes from a wrong clock, or whose day had no
        // partition. All other committed drafts are dropped with the partition of their day.
        ("drafts_other", "account_id IS NOT NULL AND ends_at < now() - interval '1 day'"),
    ]

    /// Erases the expired rows of a table, ``pages`` pages at a time, up to the page that was the last one at the
    /// start.
    private func erase(from name: String, where condition: SQL) async throws(DatabaseError) -> Int {
        let table = SQL(stringLiteral: name)
        let size = try await database.read("SELECT pg_relation_size(\(name)::text::regclass)").only.decode(Int.self)
        var count = 0
        for page in stride(from: 0, to: (size + 8191) / 8192, by: Self.pages) {
            let row = try await database.transaction(
                Self.withoutFlush,
                """
                WITH \(Self.lock), erased AS (
                    DELETE FROM \(table) WHERE ctid = ANY (ARRAY(
                        SELECT ctid FROM \(table)
                         WHERE ctid >= \(Self.lowerBound(of: page))::text::tid
                           AND ctid < \(Self.lowerBound(of: page + Self.pages))::text::tid
                           AND (SELECT acquired FROM reaper_lock) AND \(condition)
                           FOR UPDATE SKIP LOCKED
                    )) RETURNING 1
                )
                SELECT count(*) FROM erased
                """
            )[1].only
            count += try row.decode(Int.self)
        }
        return count
    }

    // MARK: - Expired rows of large tables

    /// These rows live long, so there are too many to read all of them each minute. An index finds those that have
    /// expired.
    private static let indexedRows: [(table: String, condition: SQL, order: SQL)] = [
        ("sessions", "ends_at < now()", "ends_at"),
        ("events", "id < draft_id_floor(now() - interval '30 days')", "id"),
        (
            "devices", "last_used_at < now() - make_interval(secs => \(DeviceToken.lifetime.seconds))",
            "last_used_at"
        ),
        // Authorizations whose code was not used. Others are deleted with their session at the latest.
        ("authorizations", "code_use IS NULL AND code_expires_at < now()", "code_expires_at"),
    ]

    /// Erases the expired rows of a table in the order of the index, batch by batch.
    private func eraseByIndex(
        from name: String,
        where condition: SQL,
        by order: SQL
    ) async throws(DatabaseError) -> Int {
        let table = SQL(stringLiteral: name)
        var count = 0
        while !Task.isShuttingDownGracefully {
            let erased = try await database.transaction(
                Self.withoutFlush,
                """
                WITH \(Self.lock), erased AS (
                    DELETE FROM \(table) WHERE ctid = ANY (ARRAY(
                        SELECT ctid FROM \(table) WHERE \(condition) AND (SELECT acquired FROM reaper_lock)
                         ORDER BY \(order) LIMIT \(Self.maximumRows) FOR UPDATE SKIP LOCKED
                    )) RETURNING 1
                )
                SELECT count(*) FROM erased
                """
            )[1].only.decode(Int.self)
            count += erased
            if erased < Self.maximumRows { break }
        }
        return count
    }

    /// The maximum number of rows that one statement finds by an index and erases.
    private static let maximumRows = 500

    /// A `ctid` that is lower than that of every row of the page, and higher than that of every row of earlier pages.
    private static func lowerBound(of page: Int) -> String { "(\(page),0)" }

    /// Releases the addresses that accounts have left and that can no longer be restored.
    private func releaseAddresses() async throws(DatabaseError) -> Int {
        try await database.transaction(
            "WITH \(Self.lock) SELECT CASE WHEN acquired THEN release_addresses() ELSE 0 END FROM reaper_lock"
        )[0].only.decode(Int.self)
    }

    private func dropPastPartitions() async throws(DatabaseError) -> Int {
        var count = 0
        while true {
            let dropped = try await database.transaction(
                """
                WITH \(Self.lock)
                SELECT CASE WHEN acquired THEN drop_past_draft_partitions(\(maximumLifetime)) ELSE 0 END
                  FROM reaper_lock
                """
            )[0].only.decode(Int.self)
            if dropped == 0 { return count }
            count += dropped
        }
    }

    private static let withoutFlush = SQL.setting("synchronous_commit", "off")

    /// A CTE whose column `acquired` tells whether this server may erase rows until the transaction ends.
    private static let lock: SQL = """
        reaper_lock AS MATERIALIZED (SELECT pg_try_advisory_xact_lock('drafts'::regclass::oid::int, 1) AS acquired)
        """
}

extension Reaper: Service {
    package func run() async throws {
        for await _ in Ticks(every: .seconds(60)).cancelOnGracefulShutdown() {
            do throws(DatabaseError) {
                let erased = try await sweep()
                if erased == Erased() { continue }
                logger.info(
                    "erased expired data",
                    metadata: [
                        "drafts": .stringConvertible(erased.drafts), "rows": .stringConvertible(erased.rows),
                        "partitions": .stringConvertible(erased.partitions),
                    ]
                )
            } catch {
                signups.metrics.failures.add(1, "reaper")
                logger.error("cannot erase expired data, will retry", metadata: ["reason": "\(error)"])
            }
        }
    }
}
