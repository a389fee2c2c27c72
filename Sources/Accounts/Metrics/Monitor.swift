internal import Foundation
internal import ServiceLifecycle
internal import Synchronization

/// Everything that is to be known of a running service, as Prometheus reads it.
///
/// Nobody who reads waits for the database: each reading asks for another look at it, and tells what the last one found.
package final class Monitor: Sendable {
    private let signups: Signups
    private let version: String
    private let start = Date()
    private let wishes: AsyncStream<Void>
    private let wish: AsyncStream<Void>.Continuation
    private let last = Mutex(Look())

    private struct Look {
        /// What the last look found.
        var families: [Family] = []
        /// Since when another one is asked for or under way.
        var pending: ContinuousClock.Instant?
    }

    package init(of signups: Signups, version: String) {
        self.signups = signups
        self.version = version
        (wishes, wish) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// A look that takes longer says that the database does not answer.
    private static let patience = Duration.seconds(10)

    /// All metrics in the text format (version 0.0.4). Where the database does not answer, `accounts_database_up` is 0 and
    /// what it would tell is left out.
    package func exposition() -> String {
        let found = last.withLock { look in
            let isLate = look.pending.map { ContinuousClock.now - $0 > Self.patience } ?? false
            look.pending = look.pending ?? .now
            return isLate ? [Self.up(false)] : look.families
        }
        wish.yield()
        let families =
            signups.metrics.families + signups.database.families + signups.hashing.families + process + [build] + found
        return families.map(\.text).joined()
    }

    /// Looks at the database for those who read next.
    package func look() async {
        let isUp = await signups.database.isUp
        var families = [Self.up(isUp)]
        if isUp {
            do throws(DatabaseError) {
                families += try await signups.census() + [Self.counted(true)]
            } catch {
                families.append(Self.counted(false))
            }
        }
        last.withLock { $0 = Look(families: families) }
    }

    private static func up(_ isUp: Bool) -> Family {
        .gauge("accounts_database_up", "Whether PostgreSQL answers.", isUp ? 1 : 0)
    }

    private static func counted(_ isCounted: Bool) -> Family {
        .gauge("accounts_census_up", "Whether PostgreSQL counted in time what there is.", isCounted ? 1 : 0)
    }

    private var build: Family {
        Family(
            name: "accounts_build_info",
            help: "The version that runs, and the flow that it serves.",
            kind: .gauge,
            samples: [.init(labels: [("version", version), ("flow", signups.flow.id)], value: 1)]
        )
    }

    /// Under the names that Prometheus' own clients use.
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
                help: "Processor time of the process.",
                kind: .counter,
                // A million a second, whatever the machine (POSIX).
                samples: [.init(value: Double(clock()) / 1e6)]
            ),
            .gauge("process_resident_memory_bytes", "Memory in use.", pages.count > 1 ? pages[1] * pageSize : 0),
            .gauge("process_open_fds", "Open descriptors.", Double(open ?? 0)),
            .gauge("process_max_fds", "Descriptors that may be open.", Double(limit.rlim_cur)),
            .gauge(
                "process_start_time_seconds",
                "When the process began, in seconds since 1970.",
                start.timeIntervalSince1970
            ),
        ]
    }
}

extension Monitor: Service {
    package func run() async {
        await look()
        for await _ in wishes.cancelOnGracefulShutdown() { await look() }
    }
}

extension Signups {
    /// Rows that are looked at for a number; a number as high means that there may be more.
    private static let maximumCounted = 100_000

    /// What there is in the database, counted within bounds.
    fileprivate func census() async throws(DatabaseError) -> [Family] {
        let row = try await database.transaction(
            "SET LOCAL statement_timeout = '3s'",
            """
            WITH newest AS (
                SELECT step = 'review' AS is_done, \(deadline) <= now() AS is_past FROM drafts
                 WHERE account_id IS NULL ORDER BY id DESC LIMIT \(Self.maximumCounted)
            ), oldest AS (
                SELECT \(deadline) AS deadline FROM drafts
                 WHERE account_id IS NULL AND id < draft_id_floor(now() - make_interval(secs => \(flow.idle.seconds)))
                 ORDER BY id LIMIT \(Self.maximumCounted)
            ), overdue AS (
                SELECT deadline FROM oldest WHERE deadline <= now()
            ), waiting AS (
                SELECT created_at, due_at FROM outbox WHERE state = 'waiting' LIMIT \(Self.maximumCounted)
            )
            SELECT (SELECT count(*) FROM newest WHERE NOT is_past AND NOT is_done),
                   (SELECT count(*) FROM newest WHERE NOT is_past AND is_done),
                   (SELECT count(*) FROM newest WHERE is_past), (SELECT count(*) FROM overdue),
                   (SELECT coalesce(extract(epoch FROM now() - min(deadline)), 0)::bigint FROM overdue),
                   (SELECT count(*) FROM waiting),
                   (SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::bigint FROM waiting),
                   (SELECT coalesce(greatest(extract(epoch FROM now() - min(due_at)), 0), 0)::bigint FROM waiting)
            """
        )[1].only
        let (open, review, expired, overdue, overdueAge, waiting, waitingAge, dueAge) = try row.decode(
            Int.self,
            Int.self,
            Int.self,
            Int.self,
            Int.self,
            Int.self,
            Int.self,
            Int.self
        )
        return [
            .gauge(
                "accounts_drafts",
                "Unfinished sign-ups by state, among the newest \(Self.maximumCounted).",
                by: "state",
                [("expired", Double(expired)), ("open", Double(open)), ("review", Double(review))]
            ),
            .gauge(
                "accounts_reaper_backlog",
                "Expired drafts that are still there, among the oldest \(Self.maximumCounted).",
                Double(overdue)
            ),
            .gauge("accounts_reaper_backlog_seconds", "For how long the first of them has been.", Double(overdueAge)),
            .gauge("accounts_outbox_waiting", "Mails that wait, \(Self.maximumCounted) at most.", Double(waiting)),
            .gauge("accounts_outbox_waiting_seconds", "For how long the first of them has.", Double(waitingAge)),
            .gauge("accounts_outbox_overdue_seconds", "For how long the first of them is due.", Double(dueAge)),
        ]
    }
}
