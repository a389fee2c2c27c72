import Accounts
import ArgumentParser

extension DraftCommands {
    struct Funnel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows where people abandon the sign-up: entries, completions, time and refusals per step.",
            discussion: """
                CONTINUED counts the sign-ups that completed or skipped the step. RATE is CONTINUED divided by \
                ENTERED. The bar under SHARE OF STARTS is CONTINUED divided by all started sign-ups. Servers write \
                their counts every ten seconds.

                EXAMPLES
                  accounts-api drafts funnel
                  accounts-api drafts funnel --since 30d --json
                """
        )

        @Option(help: "The period to report, such as 7d, in whole days; today is one of them.")
        var since = DurationArgument(argument: "7d")!
        @OptionGroup var flags: OperatorFlags

        func validate() throws {
            let days = FunnelReport.daysKept
            guard since.duration <= .seconds(86_400 * days) else {
                let problem = "invalid --since \(since.defaultValueDescription)"
                throw ValidationError("\(problem): the counts are kept for \(days) days, pass at most \(days)d")
            }
        }

        func run() async throws {
            let reports = try await flags.withOperator(needsKeys: false) { try await $0.funnel(over: since.duration) }
            if flags.json {
                print(JSON.array(reports.map(\.json)).text)
            } else {
                print(
                    reports.isEmpty
                        ? "no sign-ups in the \(period)"
                        : reports.map { $0.text(over: period, isWide: flags.wide) }.joined(separator: "\n\n")
                )
            }
        }

        /// The period in words, such as "last 7 days".
        private var period: String {
            let (days, rest) = since.duration.seconds.quotientAndRemainder(dividingBy: 86_400)
            return "last \(rest == 0 ? counted(days, "day") : since.duration.inLargestUnit)"
        }
    }
}

extension FunnelReport {
    fileprivate func text(over period: String, isWide: Bool) -> String {
        let started = steps.map(\.entered).max() ?? 0
        let rows = steps.map { step -> [Table.Cell] in
            [
                .init(step.name), "\(step.entered)", "\(step.passed)",
                .init(Self.percent(step.passed, of: step.entered)),
                // If all accounts were imported, `started` is 0, but the first sign-ins are counted.
                Self.barCell(started > 0 ? Double(step.passed) / Double(started) : 0),
                .init(step.medianSeconds.map { span(of: $0) } ?? ""),
                .init(step.abandoned > 0 ? "\(step.abandoned)" : "", .yellow),
                .init(step.superseded > 0 ? "\(step.superseded)" : ""),
                .init(step.removed > 0 ? "\(step.removed)" : ""),
                .init(step.refusals.prefix(3).map { "\($0.code) \($0.count)" }.joined(separator: ", ")),
            ]
        }
        let header = [
            "STEP", "ENTERED", "CONTINUED", "RATE", "SHARE OF STARTS", "MEDIAN", "ABANDONED", "SUPERSEDED", "REMOVED",
            "REFUSALS",
        ]
        let table = Table(
            header,
            rows,
            omittingIfNarrow: ["MEDIAN", "SUPERSEDED", "REMOVED"],
            atLast: ["ABANDONED", "SHARE OF STARTS"]
        )
        return "\(flow), \(period)\n\n\(table.text(isWide: isWide))"
    }

    private static func percent(_ part: Int, of whole: Int) -> String {
        whole > 0 ? "\((part * 100 + whole / 2) / whole) %" : ""
    }

    /// A cell with a bar. A narrow table draws the bar on a smaller scale instead of cutting it.
    private static func barCell(_ part: Double) -> Table.Cell {
        .init(bar(part), brief: bar(part, of: 8), .green)
    }

    /// Returns a bar in steps of an eighth of a column.
    ///
    /// - Parameters:
    ///   - part: the length of the bar as a share of the maximum, from 0 to 1.
    ///   - columns: the maximum length.
    static func bar(_ part: Double, of columns: Int = 20) -> String {
        let eighths = Int((min(max(part, 0), 1) * Double(8 * columns)).rounded())
        let last = eighths % 8 > 0 ? String(Character(UnicodeScalar(0x2590 - UInt32(eighths % 8))!)) : ""
        return String(repeating: "█", count: eighths / 8) + last
    }

    fileprivate var json: JSON {
        let steps = steps.map { step -> JSON in
            [
                "step": .string(step.name), "entered": .integer(step.entered), "completed": .integer(step.completed),
                "skipped": .integer(step.skipped), "expired": .integer(step.expired),
                "cancelled": .integer(step.cancelled), "superseded": .integer(step.superseded),
                "removed": .integer(step.removed),
                "median_seconds": step.medianSeconds.map(JSON.integer) ?? .null,
                "refused": .object(step.refusals.map { .init($0.code, .integer($0.count)) }),
            ]
        }
        return ["flow": .string(flow), "steps": .array(steps)]
    }
}
