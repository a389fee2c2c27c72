/// Where people gave up in one version of the flow, over some days.
package struct FunnelReport: Sendable {
    /// Such as `default@1`.
    package let flow: String
    /// In the order in which they are asked; `review` is the last look before the account.
    package let steps: [Step]

    package struct Step: Sendable {
        package let name: String
        package var entered = 0
        package var completed = 0
        package var skipped = 0
        package var expired = 0
        package var cancelled = 0
        package var superseded = 0
        package var removed = 0
        /// Codes of refused answers, the commonest first.
        package var refusals: [(code: String, count: Int)] = []
        /// Half of those who completed it took no longer; nil where nobody did.
        package var medianSeconds: Int?

        /// Those who went on.
        package var passed: Int { completed + skipped }
        /// Those who will not.
        package var abandoned: Int { expired + cancelled }
    }
}

extension Operator {
    /// One report for each flow that anybody met, the present one first.
    ///
    /// - Parameter period: whole days of UTC, today's among them; a part of a day is all of it.
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
        return flows.sorted { a, _ in a == flow.id }.map { id in
            let steps = counts[id, default: [:]]
            return FunnelReport(flow: id, steps: order(Array(steps.keys)).compactMap { steps[$0]?.step })
        }
    }

    /// Steps that the present flow does not have come after those that it has.
    private func order(_ names: [String]) -> [String] {
        let known = flow.steps.map(\.name.rawValue)
        return known.filter(names.contains) + names.filter { !known.contains($0) && $0 != "review" }.sorted()
            + names.filter { $0 == "review" }
    }
}

/// The counts of one step, as they are read.
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
