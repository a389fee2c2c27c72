internal import Foundation

/// A target and the measured figure: a row of the first table in docs/performance.md.
struct Goal {
    let name: String
    /// The target with its direction, such as `≥ 1.3`.
    let target: String
    let figure: String
    let isReached: Bool

    /// - Parameter figures: one for each round; their median is compared with the target.
    init(_ name: String, atLeast target: Double, _ figures: [Double]) {
        let median = figures.median
        self.init(
            name: name,
            target: "≥ \(target)",
            figure: String(format: "%.2f", median),
            isReached: median >= target
        )
    }

    init(_ name: String, atMost target: Double, _ figures: [Double], unit: String = "") {
        let median = figures.median
        let places = unit.isEmpty ? 2 : 0
        self.init(
            name: name,
            target: "≤ " + (unit.isEmpty ? "\(target)" : String(format: "%.0f", target)) + unit,
            figure: String(format: "%.\(places)f", median) + unit,
            isReached: median <= target
        )
    }

    private init(name: String, target: String, figure: String, isReached: Bool) {
        (self.name, self.target, self.figure, self.isReached) = (name, target, figure, isReached)
    }
}

/// The results of the goals, as Markdown.
struct Report {
    private(set) var goals: [Goal] = []
    private(set) var tables: [(title: String, table: Table)] = []

    mutating func add(_ goal: Goal) {
        goals.append(goal)
        print("\(goal.isReached ? "reached" : "missed "): \(goal.name): \(goal.figure) (\(goal.target))")
    }

    mutating func add(_ table: Table, under title: String) {
        tables.append((title, table))
        table.print(under: title)
    }

    var markdown: String {
        var table = Table("goal", "target", "found", "")
        for goal in goals { table.append(goal.name, goal.target, goal.figure, goal.isReached ? "reached" : "missed") }
        return ([("", table)] + tables.map { ("**\($0.title)**\n\n", $0.table) })
            .map { $0.0 + $0.1.markdown }.joined(separator: "\n")
    }

    /// Writes the results into the file, between its comments `figures` and `end of figures`. Throws if the file lacks
    /// them.
    func write(to file: URL) throws {
        let machine = ProcessInfo.processInfo.environment["MACHINE"] ?? "An unknown machine"
        let marks = ["<!-- figures -->\n", "<!-- end of figures -->"]
        let text = try String(contentsOf: file, encoding: .utf8)
        guard let start = text.range(of: marks[0]), let end = text.range(of: marks[1]) else {
            throw Service.Failure(description: "\(file.path) has no marks for the figures")
        }
        let date = Date().formatted(.iso8601.year().month().day())
        let figures = "\(machine), \(date):\n\n\(markdown)\n"
        try Data((text[..<start.upperBound] + figures + text[end.lowerBound...]).utf8).write(to: file)
    }
}

extension [Double] {
    var median: Double { sorted()[count / 2] }
}

extension [Load] {
    /// The median of each figure.
    var median: Load {
        func middle(_ figure: (Load) -> Duration) -> Duration { map(figure).sorted()[count / 2] }
        return Load(count: map(\.count).median, rate: map(\.rate).median, p50: middle(\.p50), p99: middle(\.p99))
    }
}
