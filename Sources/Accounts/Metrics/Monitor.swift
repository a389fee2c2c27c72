internal import Foundation
internal import ServiceLifecycle
internal import Synchronization

/// All metrics of a running service, as Prometheus reads them.
///
/// A scrape does not wait for the database: it returns the values of the last query, and requests a new one.
package final class Monitor: Sendable {
    private let signups: Signups
    private let version: String
    private let keyMismatch: KeyMismatch?
    private let start = Date()
    private let refreshRequests: AsyncStream<Void>
    private let refreshRequest: AsyncStream<Void>.Continuation
    private let last = Mutex(Snapshot())

    private struct Snapshot {
        /// The values of the last query.
        var families: [Family] = []
        var delay = RefreshDelay()
    }

    /// - Parameter keyMismatch: the reason why the keys do not fit the database; nil if they do.
    package init(of signups: Signups, version: String, keyMismatch: KeyMismatch? = nil) {
        self.signups = signups
        self.version = version
        self.keyMismatch = keyMismatch
        (refreshRequests, refreshRequest) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// All metrics in the text format of Prometheus (version 0.0.4). If the database does not answer,
    /// `accounts_database_up` is 0 and the result has no other values from the database.
    package func exposition() -> String {
        let databaseFamilies = last.withLock { snapshot in
            snapshot.delay.scrape(at: .now) ? [Self.up(false)] : snapshot.families
        }
        refreshRequest.yield()
        let families =
            signups.metrics.families + signups.database.families + signups.hashing.families + process
            + [build, keysFit] + databaseFamilies
        return families.map(\.text).joined()
    }

    /// Queries the database for the next scrape.
    package func refresh() async {
        let isUp = await signups.database.isUp(within: .seconds(5))
        var families = [Self.up(isUp)]
        if isUp {
            last.withLock { $0.delay.answer(at: .now) }
            do throws(DatabaseError) {
                families += try await signups.census()
                last.withLock { $0.delay.answer(at: .now) }
                families += try await signups.database.eventCensus()
                families.append(Self.censusUp(true))
            } catch {
                families.append(Self.censusUp(false))
            }
        }
        last.withLock { $0 = Snapshot(families: families) }
    }

    private static func up(_ isUp: Bool) -> Family {
        .gauge("accounts_database_up", "1 if PostgreSQL answered, otherwise 0.", isUp ? 1 : 0)
    }

    private static func censusUp(_ isUp: Bool) -> Family {
        .gauge(
            "accounts_census_up",
            "1 if PostgreSQL answered the counting queries in time, otherwise 0.",
            isUp ? 1 : 0
        )
    }

    private var build: Family {
        Family(
            name: "accounts_build_info",
            help: "Always 1; the labels are the version and the flow that run.",
            kind: .gauge,
            samples: [.init(labels: [("version", version), ("flow", signups.flow.id)], value: 1)]
        )
    }

    private var keysFit: Family {
        .gauge(
            "accounts_keys_fit",
            "1 if ACCOUNTS_KEYS fitted the database at the start of the server, otherwise 0.",
            keyMismatch == nil ? 1 : 0
        )
    }

    /// The metrics of the process, with the names of the official client libraries.
    private var process: [Family] {
        let pages =
            (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
            .compactMap { Double($0) } ?? []
        let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let pageSize = Double(sysconf(Int32(_SC_PAGESIZE)))
        return [
            Family(
                name: "process_cpu_seconds_total",
                help: "Processor time of the process in seconds.",
                kind: .counter,
                // clock() counts microseconds, as POSIX requires.
                samples: [.init(value: Double(clock()) / 1e6)]
            ),
            .gauge(
                "process_resident_memory_bytes",
                "Memory in use in bytes.",
                pages.count > 1 ? pages[1] * pageSize : 0
            ),
            .gauge("process_open_fds", "Open file descriptors.", Double(open ?? 0)),
            .gauge("process_max_fds", "Maximum number of open file descriptors.", Double(limit.rlim_cur)),
            .gauge(
                "process_start_time_seconds",
                "Start time of the process in seconds since 1970.",
                start.timeIntervalSince1970
            ),
        ]
    }
}

/// Decides whether the database answers too late while ``Monitor`` queries it for the next scrape. The time starts
/// again with each answer, because all queries together may take longer than the maximum.
struct RefreshDelay {
    /// The time without an answer after which the database counts as unavailable. It is longer than the time limits of
    /// all queries between two answers together, so slow queries alone do not exceed it.
    private static let maximum = Duration.seconds(10)
    /// The time of the first scrape since the last refresh ended, or of a later answer; nil if there was no scrape
    /// since then.
    private var start: ContinuousClock.Instant?

    /// Notes a scrape, which requests a refresh. Returns whether the database is too late.
    mutating func scrape(at now: ContinuousClock.Instant) -> Bool {
        let first = start ?? now
        start = first
        return now - first > Self.maximum
    }

    /// Notes an answer of the database that is not the last one of the refresh.
    mutating func answer(at now: ContinuousClock.Instant) {
        if start != nil { start = now }
    }
}

extension Monitor: Service {
    package func run() async {
        await refresh()
        for await _ in refreshRequests.cancelOnGracefulShutdown() { await refresh() }
    }
}

extension Signups {
    /// The maximum number of rows that a query, or each of its parts, reads. If it reads as many, there may be more.
    private static let maximumCounted = 100_000

    /// Gauges of the unfinished drafts and of the mail in the database.
    fileprivate func census() async throws(DatabaseError) -> [Family] {
        let rows = try await database.transaction(
            .setting("statement_timeout", "3s"),
            countNewestDrafts,
            countOverdueDrafts,
            countWaitingMails
        )
        let (open, review, expired) = try rows[1].only.decode(Int.self, Int.self, Int.self)
        let (overdue, overdueAge) = try rows[2].only.decode(Int.self, Int.self)
        let (waiting, waitingAge, dueAge, mails) = try rows[3].only.decode(Int.self, Int.self, Int.self, Int.self)
        return [
            .gauge(
                "accounts_drafts",
                "Unfinished sign-ups, recoveries and changes of address by state, "
                    + "among the newest \(Self.maximumCounted).",
                by: "state",
                [("expired", Double(expired)), ("open", Double(open)), ("review", Double(review))]
            ),
            .gauge(
                "accounts_reaper_backlog",
                "Expired drafts that are not erased yet, among the oldest \(Self.maximumCounted).",
                Double(overdue)
            ),
            .gauge(
                "accounts_reaper_backlog_seconds",
                "Time since the first draft of the backlog expired.",
                Double(overdueAge)
            ),
            .gauge(
                "accounts_outbox_waiting",
                "Mails not delivered yet, counted up to \(Self.maximumCounted).",
                Double(waiting)
            ),
            .gauge("accounts_outbox_waiting_seconds", "Age of the oldest waiting mail.", Double(waitingAge)),
            .gauge("accounts_outbox_overdue_seconds", "Time since the first waiting mail became due.", Double(dueAge)),
            .gauge(
                "accounts_mail_budget_used_ratio",
                "Mails that clients have caused in the period of the limit `mails`, divided by that limit.",
                Double(mails) / Double(flow.limits[.mails].count)
            ),
        ]
    }

    private var countNewestDrafts: SQL {
        """
        SELECT count(*) FILTER (WHERE NOT is_past AND NOT is_done), count(*) FILTER (WHERE NOT is_past AND is_done),
               count(*) FILTER (WHERE is_past)
          FROM (SELECT \(DraftSummary.isAtReview) AS is_done, \(deadline) <= now() AS is_past FROM drafts
                 WHERE account_id IS NULL ORDER BY id DESC LIMIT \(Self.maximumCounted)) AS newest
        """
    }

    /// Reads drafts that are older than the idle time of a sign-up, and younger ones of recoveries and changes of
    /// address. A younger draft of a sign-up cannot have expired, unless it was started with a shorter lifetime, but a
    /// younger one of these may have (``DraftExpiry/ofChange``). Each of the two parts reads at most ``maximumCounted`` rows.
    private var countOverdueDrafts: SQL {
        """
        SELECT count(*), coalesce(extract(epoch FROM now() - min(deadline)), 0)::bigint
          FROM ((SELECT \(deadline) AS deadline FROM drafts
                  WHERE account_id IS NULL AND id < \(firstYoungID)
                  ORDER BY id LIMIT \(Self.maximumCounted))
                UNION ALL
                (SELECT \(deadline) FROM drafts
                  WHERE flow LIKE '%/%' AND account_id IS NULL AND id >= \(firstYoungID)
                  ORDER BY ends_at LIMIT \(Self.maximumCounted))) AS oldest
         WHERE deadline <= now()
        """
    }

    /// The lowest id that a draft younger than the idle time of a sign-up can have.
    private var firstYoungID: SQL { "draft_id_floor(now() - make_interval(secs => \(flow.expiry.idle.seconds)))" }

    private var countWaitingMails: SQL {
        """
        SELECT count(*), coalesce(extract(epoch FROM now() - min(created_at)), 0)::bigint,
               coalesce(greatest(extract(epoch FROM now() - min(due_at)), 0), 0)::bigint, \(hitsForAll(.mails))
          FROM (SELECT created_at, due_at FROM outbox WHERE state = 'waiting' LIMIT \(Self.maximumCounted)) AS waiting
        """
    }
}
