internal import Foundation
package import Logging
internal import ServiceLifecycle

/// Erases what nobody can read any more: expired drafts and all that belongs to them, and rows that have had their time.
///
/// It goes in small batches that skip what others have locked, whose commits wait for no flush of the log (what a crash
/// undoes is done again), and rests for four times as long as each has taken: no step waits for it. Any number of servers
/// may do so side by side: while one of them is at a batch, the others pass theirs over.
package struct Reaper: Sendable {
    private let signups: Signups
    private let logger: Logger
    private let rest: Int
    private let longest: Duration
    private var database: Database { signups.database }

    /// - Parameters:
    ///   - rest: how many times as long as a batch of drafts has taken it waits before the next.
    ///   - longest: for how long a sweep erases drafts, so that after a flood the rest is not forgotten over them.
    package init(signups: Signups, rest: Int = 4, longest: Duration = .seconds(300), logger: Logger) {
        self.signups = signups
        self.rest = rest
        self.longest = longest
        self.logger = logger
    }

    /// What a sweep erased.
    package struct Erased: Hashable, Sendable {
        package var drafts = 0
        /// Limits, endings, leases, codes, links and mails.
        package var rows = 0
        /// Days of drafts.
        package var partitions = 0
    }

    /// Drafts that one statement looks at; part of its text, so that the plan is made for so few.
    private static let batch = 50
    /// Pages of a table that one statement looks at.
    private static let pages = 500

    /// Looks at everything once. What fails does not keep the rest from being erased; its error is thrown at the end.
    package func sweep() async throws(DatabaseError) -> Erased {
        let start = ContinuousClock.now
        var erased = Erased()
        var failure: DatabaseError?
        func attempt(_ act: () async throws(DatabaseError) -> Void) async {
            do throws(DatabaseError) { try await act() } catch { failure = failure ?? error }
        }
        await attempt { () throws(DatabaseError) in erased.drafts = try await eraseExpiredDrafts() }
        for (table, isUseless) in Self.useless {
            await attempt { () throws(DatabaseError) in erased.rows += try await erase(from: table, where: isUseless) }
        }
        await attempt { () throws(DatabaseError) in erased.partitions = try await dropPastPartitions() }
        let metrics = signups.metrics
        metrics.erased.add(erased.rows, "rows")
        metrics.erased.add(erased.partitions, "partitions")
        if let failure { throw failure }
        metrics.sweeps.record(ContinuousClock.now - start)
        return erased
    }

    // MARK: - Drafts

    /// Day by day, by statements that name its partition: one that names the whole opens all of them each time.
    private func eraseExpiredDrafts() async throws(DatabaseError) -> Int {
        let end = ContinuousClock.now + longest
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
                // Another server may have dropped the day.
                let isThere = try await database.read("SELECT to_regclass(\(name)::text) IS NOT NULL").only
                    .decode(Bool.self)
                if isThere { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
        return count
    }

    /// In the order of their ids, which is that of their beginnings: whoever began within the idle time cannot have expired.
    /// Of each day there is a batch, also after the end.
    private func eraseExpiredDrafts(
        in table: SQL,
        until end: ContinuousClock.Instant,
        _ count: inout Int
    ) async throws(DatabaseError) {
        var last = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        repeat {
            let start = ContinuousClock.now
            let row = try await database.transaction(
                [
                    Self.unhurried,
                    """
                    WITH \(Self.turn), page AS (
                        SELECT id FROM \(table)
                         WHERE account_id IS NULL AND (SELECT mine FROM turn)
                           AND id > \(last)
                           AND id < draft_id_floor(now() - make_interval(secs => \(signups.flow.idle.seconds)))
                         ORDER BY id LIMIT \(SQL(stringLiteral: "\(Self.batch)"))
                    ), expired AS (
                        SELECT id FROM \(table)
                         WHERE \(Self.isIn("page")) AND account_id IS NULL AND \(signups.deadline) <= now()
                           FOR UPDATE SKIP LOCKED
                    ), ended AS (
                        DELETE FROM \(table) WHERE \(Self.isIn("expired"))
                        RETURNING id, flow, step, token_hash, created_at, ends_at
                    ), remembered AS (
                        INSERT INTO endings (token_hash, reason, until)
                        SELECT token_hash, 'expired', ends_at + interval '1 day' FROM ended
                         WHERE ends_at > now() - interval '1 day' AND ends_at > created_at + \(life) + interval '1 minute'
                        ON CONFLICT DO NOTHING
                    )
                    SELECT (SELECT count(*) FROM ended), (SELECT count(*) FROM page),
                           (SELECT id FROM page ORDER BY id DESC LIMIT 1), \(Funnel.ended()),
                           \(Signups.rememberEnded("SELECT id FROM ended"))
                    """,
                ] + Signups.deleteBelongings
            )[1].only
            let (erased, seen, place, ended, _) = try row.decode(
                Int.self,
                Int.self,
                UUID?.self,
                String.self,
                String.self
            )
            try signups.funnel.ended(ended, as: .expired)
            signups.metrics.erased.add(erased, "drafts")
            count += erased
            try? await Task.sleep(for: min((ContinuousClock.now - start) * rest, .seconds(1)))
            guard let place, seen == Self.batch else { return }
            last = place
        } while ContinuousClock.now < end && !Task.isShuttingDownGracefully
    }

    /// Whose id is in that list. What is joined would be planned again for each batch, which takes longer than the batch.
    private static func isIn(_ list: SQL) -> SQL { "id = ANY (ARRAY(SELECT id FROM \(list)))" }

    /// How long a draft may live that nobody has extended: of such a one its token tells that it has expired.
    private var life: SQL { "make_interval(secs => \(signups.flow.absolute.seconds))" }

    // MARK: - Rows that have had their time

    private static let useless: [(table: String, condition: SQL)] = [
        ("limits", "until < now()"),
        ("endings", "until < now()"),
        ("leases", "until < now()"),
        ("funnel_daily", "day < now() - interval '400 days'"),
        ("handoffs", "expires_at < now()"),
        // Dead mail stays until somebody has seen it; delivered mail keeps no address as it is.
        (
            "outbox",
            "finished_at < now() - CASE state WHEN 'dead' THEN interval '30 days' ELSE interval '1 day' END"
        ),
        // Those that a clock gone wrong has put beside their day, and that therefore no partition takes along.
        ("drafts_other", "account_id IS NOT NULL AND ends_at < now() - interval '1 day'"),
    ]

    /// From the first page of the table to what is its last now.
    private func erase(from name: String, where isUseless: SQL) async throws(DatabaseError) -> Int {
        let table = SQL(stringLiteral: name)
        let size = try await database.read("SELECT pg_relation_size(\(name)::text::regclass)").only.decode(Int.self)
        var count = 0
        for page in stride(from: 0, to: (size + 8191) / 8192, by: Self.pages) {
            let row = try await database.transaction(
                Self.unhurried,
                """
                WITH \(Self.turn), erased AS (
                    DELETE FROM \(table) WHERE ctid = ANY (ARRAY(
                        SELECT ctid FROM \(table)
                         WHERE ctid >= \(Self.place(page))::text::tid AND ctid < \(Self.place(page + Self.pages))::text::tid
                           AND (SELECT mine FROM turn) AND \(isUseless)
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

    /// The beginning of a page.
    private static func place(_ page: Int) -> String { "(\(page),0)" }

    private func dropPastPartitions() async throws(DatabaseError) -> Int {
        var count = 0
        while true {
            let dropped = try await database.transaction(
                "WITH \(Self.turn) SELECT CASE WHEN mine THEN drop_past_draft_partitions(\(life)) ELSE 0 END FROM turn"
            )[0].only.decode(Int.self)
            if dropped == 0 { return count }
            count += dropped
        }
    }

    private static let unhurried: SQL = "SET LOCAL synchronous_commit = off"

    /// Whether this server is the one that sweeps, until its statement ends.
    private static let turn: SQL = """
        turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock('drafts'::regclass::oid::int, 1) AS mine)
        """
}

extension Reaper: Service {
    package func run() async throws {
        for await _ in Ticks(every: .seconds(60)).cancelOnGracefulShutdown() {
            do throws(DatabaseError) {
                let erased = try await sweep()
                if erased == Erased() { continue }
                logger.info(
                    "erased what has had its time",
                    metadata: [
                        "drafts": "\(erased.drafts)", "rows": "\(erased.rows)", "partitions": "\(erased.partitions)",
                    ]
                )
            } catch {
                signups.metrics.failures.add(1, "reaper")
                logger.error("what has had its time is still there", metadata: ["reason": "\(error)"])
            }
        }
    }
}
