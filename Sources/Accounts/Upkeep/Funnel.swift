internal import Foundation
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Counts by day and flow how often each outcome happens at each step, and how long the steps take. It stores no
/// identities.
///
/// The counts are in memory, and are added to the database every ten seconds. A server that is killed loses the counts
/// since the previous write.
package final class Funnel: Sendable {
    package enum Outcome: String, CaseIterable, Sendable {
        /// The step has become the next step for the first time, or was answered before that.
        case entered
        /// The answers of the step were valid for the first time.
        case completed
        /// The step is optional, and its first submission had no answers.
        case skipped
        /// An answer of the step was refused.
        case refused
        /// The draft expired at this step.
        case expired
        /// The person has cancelled the draft at this step.
        case cancelled
        /// An operator has deleted the draft at this step or, at the step ``Funnel/signIn``, an account to which nobody
        /// had signed in.
        case removed
        /// The draft ended at this step, because another draft for the same address was committed or has submitted the
        /// same username, or because the account that the draft would change no longer meets the conditions of the
        /// commit.
        case superseded
    }

    private struct Event: Hashable {
        let flow, step: String
        let outcome: Outcome
        var code = ""
        var seconds = 0

        var row: JSON {
            [
                "flow": .string(flow), "step": .string(step), "outcome": .string(outcome.rawValue),
                "code": .string(code), "seconds": .integer(seconds),
            ]
        }
    }

    private let counts = Mutex<[Event: Int]>([:])
    private let metrics: Metrics

    init(metrics: Metrics) {
        self.metrics = metrics
    }

    private func count(_ event: Event, times: Int = 1) {
        counts.withLock { $0[event, default: 0] += times }
        metrics.funnel.add(times, event.flow, event.step, event.outcome.rawValue, event.code)
    }

    /// Counts a draft that was started. The person enters this step.
    func started(at step: String, of flow: Flow) {
        entered(step, of: flow)
        if flow.purpose == .signup { metrics.signups.add(1, "started") }
    }

    /// Counts a sign-up that has become an account. The person enters the step ``signIn``.
    func completed(_ flow: Flow) {
        guard flow.purpose == .signup else { return }
        entered(Self.signIn, of: flow)
        metrics.signups.add(1, "completed")
    }

    func entered(_ step: String, of flow: Flow) {
        count(Event(flow: flow.id, step: step, outcome: .entered))
    }

    /// - Parameter time: the seconds since the last change of the draft.
    func answered(_ step: String, of flow: Flow, isSkipped: Bool = false, after time: TimeInterval) {
        if isSkipped {
            count(Event(flow: flow.id, step: step, outcome: .skipped))
        } else {
            answered(step, ofFlow: flow.id, after: time)
        }
    }

    func answered(_ step: String, ofFlow flow: String, after time: TimeInterval) {
        count(Event(flow: flow, step: step, outcome: .completed, seconds: Self.rounded(max(0, Int(time)))))
    }

    /// The name of the step after the commit. A person enters this step when the account is created, and completes it
    /// by the first sign-in.
    static let signIn = "sign-in"

    func refused(_ refusals: [Refusal], at step: StepName, of flow: Flow) {
        for code in Set(refusals.map(\.code)) {
            count(Event(flow: flow.id, step: step.rawValue, outcome: .refused, code: code.rawValue))
        }
    }

    /// Counts ended drafts, from the value of the column that ``ended(in:)`` selects.
    func ended(_ list: String, as outcome: Outcome) throws(DatabaseError) {
        guard case .array(let groups)? = try? JSON.read(Array(list.utf8)) else {
            throw .unexpectedAnswer("the steps of the ended drafts cannot be read")
        }
        for case .array(let group) in groups {
            guard group.count == 3, let flow = group[0].string, let step = group[1].string,
                case .integer(let times) = group[2]
            else { continue }
            let name = step.trimmingPrefix(FlowPurpose(ofFlow: flow).prefix)
            count(Event(flow: flow, step: String(name), outcome: outcome), times: times)
        }
    }

    /// Returns a column that counts the rows of a table by flow and step. Each row is a draft that has ended.
    static func ended(in table: SQL = "ended") -> SQL {
        """
        (SELECT coalesce(jsonb_agg(jsonb_build_array(flow, step, number)), '[]')::text
           FROM (SELECT flow, step, count(*) AS number FROM \(table) GROUP BY flow, step) AS steps)
        """
    }

    /// Rounds a duration in seconds: not at all below a minute, to 5 seconds below ten minutes, to minutes below two
    /// hours, and to hours above, up to 10,000 hours.
    private static func rounded(_ seconds: Int) -> Int {
        switch seconds {
        case ..<60: seconds
        case ..<600: (seconds + 2) / 5 * 5
        case ..<7200: (seconds + 30) / 60 * 60
        default: min((seconds + 1800) / 3600, 10_000) * 3600
        }
    }

    /// Adds the counts to the database. If the write fails, keeps the counts for the next call. If the outcome is
    /// unknown, drops the counts, so that nothing is counted twice.
    package func flush(to database: Database) async throws(DatabaseError) {
        let counts = self.counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
        if counts.isEmpty { return }
        let rows = counts.map { event, count -> JSON in
            guard case .object(let members) = event.row else { preconditionFailure("a row is an object") }
            return .object(members + [.init("count", .integer(count))])
        }
        do throws(DatabaseError) {
            // Writes the rows always in the same order, so that servers that write at the same time cannot deadlock.
            _ = try await database.transaction(
                """
                INSERT INTO funnel_daily (day, flow, step, outcome, code, seconds, count)
                SELECT (now() AT TIME ZONE 'UTC')::date, flow, step, outcome, code, seconds, count
                  FROM jsonb_to_recordset(\(JSON.array(rows).text)::jsonb)
                       AS counted (flow text, step text, outcome text, code text, seconds integer, count bigint)
                 ORDER BY flow, step, outcome, code, seconds
                ON CONFLICT (day, flow, step, outcome, code, seconds)
                DO UPDATE SET count = funnel_daily.count + excluded.count
                """
            )
        } catch {
            if case .outcomeUnknown = error { throw error }
            self.counts.withLock { $0.merge(counts) { $0 + $1 } }
            throw error
        }
    }
}

/// Writes the counts of a server to the database, every ten seconds and when the server stops.
package struct FunnelWriter: Service {
    private let signups: Signups
    private let logger: Logger

    package init(signups: Signups, logger: Logger) {
        self.signups = signups
        self.logger = logger
    }

    package func run() async throws {
        for await _ in Ticks(every: .seconds(10)).cancelOnGracefulShutdown() { await flush() }
        await flush()
    }

    private func flush() async {
        do throws(DatabaseError) {
            try await signups.funnel.flush(to: signups.database)
        } catch {
            signups.metrics.failures.add(1, "funnel")
            let reason: Logger.Metadata = ["reason": "\(error)"]
            if case .outcomeUnknown = error {
                logger.warning("cannot tell whether the funnel counts were written, will not retry", metadata: reason)
            } else {
                logger.warning("cannot write the funnel counts, will retry", metadata: reason)
            }
        }
    }
}
