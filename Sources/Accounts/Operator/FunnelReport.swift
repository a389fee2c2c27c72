/// The funnel of one version of a flow: for each step, how often people entered, completed or skipped it, how often a
/// draft ended at it, and why answers were refused.
package struct FunnelReport: Sendable {
    /// The flow with its version, such as `default@1`.
    package let flow: String
    /// The steps that have counts: the steps of the flow with this name in its order, other steps, `review`, and then
    /// `sign-in`, which is the first sign-in to the new account.
    package let steps: [Step]

    /// The number of days for which the counts are kept.
    package static let daysKept = 400

    package struct Step: Sendable {
        package let name: String
        package var entered = 0
        package var completed = 0
        package var skipped = 0
        package var expired = 0
        package var cancelled = 0
        package var superseded = 0
        package var removed = 0
        /// The error codes of refused answers, the most frequent first.
        package var refusals: [(code: String, count: Int)] = []
        /// The median time in seconds from the previous change of a draft to the completion of the step, and for
        /// `sign-in` from the creation of the account to the first sign-in; nil if the step was never completed. Times
        /// of a minute and more were rounded when they were counted.
        package var medianSeconds: Int?

        /// The number of people who completed or skipped the step.
        package var passed: Int { completed + skipped }
        /// The number of drafts that expired or were cancelled at the step.
        package var abandoned: Int { expired + cancelled }
    }
}

extension Operator {
    /// Returns one report for each version of a flow that has counts in the period, the current version first.
    ///
    /// - Parameter period: includes all UTC days that began within this time before now, and at least today.
    package func funnel(over period: Duration) async throws(DatabaseError) -> [FunnelReport] {
        let rows = try await database.read(
            """
            SELECT flow, step, outcome, code, seconds, sum(count)::bigint FROM funnel_daily
             WHERE day > (now() AT TIME ZONE 'UTC' - make_interval(secs => \(max(period.seconds, 86_400))))::date
             GROUP BY flow, step, outcome, code, seconds ORDER BY flow DESC
            """
        )
        var flows: [String] = []
        var counts: [String: [String: Tally]] = [:]
        for row in rows {
            let (flow, step, outcome, code, seconds, count) = try row.decode(
                String.self,
                String.self,
                String.self,
                String.self,
                Int.self,
                Int.self
            )
            if !flows.contains(flow) { flows.append(flow) }
            counts[flow, default: [:]][step, default: Tally(name: step)].add(count, outcome, code, seconds)
        }
        return flows.sorted { $0 == flow.id && $1 != flow.id }.map { id in
            let steps = counts[id, default: [:]]
            return FunnelReport(flow: id, steps: order(steps.values.map(\.step), of: id).compactMap { steps[$0]?.step })
        }
    }

    /// Sorts names of steps: first the steps of the flow in its order, then other steps, then `review` and `sign-in`.
    /// The order of the other steps, such as all steps of an unknown flow, is not stored. People reach the steps one
    /// after another, so a step that more people have reached comes first.
    ///
    /// - Parameter id: the id of a version of a flow. The order is that of the version in the flow file.
    private func order(_ steps: [FunnelReport.Step], of id: String) -> [String] {
        let names = steps.sorted { ($1.entered, $0.name) < ($0.entered, $1.name) }.map(\.name)
        let name = id.prefix { $0 != "@" }
        let known = ([flow] + flow.changes).first { $0.name == name }?.steps.map(\.name.rawValue) ?? []
        let last = ["review", Funnel.signIn]
        return known.filter(names.contains) + names.filter { !(known + last).contains($0) }
            + last.filter(names.contains)
    }
}

/// The sum of the counts of one step in the rows that were read so far.
private struct Tally {
    private(set) var step: FunnelReport.Step
    private var times: [(seconds: Int, count: Int)] = []

    init(name: String) {
        step = FunnelReport.Step(name: name)
    }

    mutating func add(_ count: Int, _ outcome: String, _ code: String, _ seconds: Int) {
        switch Funnel.Outcome(rawValue: outcome) {
        case .entered: step.entered += count
        case .completed:
            step.completed += count
            times.append((seconds, count))
            step.medianSeconds = median
        case .skipped: step.skipped += count
        case .refused:
            step.refusals.append((code, count))
            step.refusals.sort { ($1.count, $0.code) < ($0.count, $1.code) }
        case .expired: step.expired += count
        case .cancelled: step.cancelled += count
        case .superseded: step.superseded += count
        case .removed: step.removed += count
        case nil: break
        }
    }

    private var median: Int? {
        var left = (step.completed + 1) / 2
        return times.sorted { $0.seconds < $1.seconds }.first { time in
            left -= time.count
            return left <= 0
        }?.seconds
    }
}
