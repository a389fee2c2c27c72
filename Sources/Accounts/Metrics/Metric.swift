/// A counter or a histogram, which keeps its values. ``Metrics`` has all counters and histograms. A gauge keeps no
/// values, so it is only a ``Family``.
protocol Metric: Sendable {
    var family: Family { get }
}

/// All samples of one metric. ``text`` has them in the text format of Prometheus (version 0.0.4).
struct Family {
    enum Kind: String {
        case counter, gauge, histogram
    }

    let name: String
    let help: String
    let kind: Kind
    let samples: [Sample]

    struct Sample {
        /// The suffix after the name of the family, such as `_count`.
        var suffix = ""
        var labels: [(name: String, value: String)] = []
        let value: Double
    }

    /// A gauge with one sample.
    static func gauge(_ name: String, _ help: String, _ value: Double) -> Family {
        Family(name: name, help: help, kind: .gauge, samples: [Sample(value: value)])
    }

    /// A gauge with one sample for each value of a label.
    static func gauge(_ name: String, _ help: String, by label: String, _ values: [(String, Double)]) -> Family {
        let samples = values.map { Sample(labels: [(label, $0)], value: $1) }
        return Family(name: name, help: help, kind: .gauge, samples: samples)
    }

    var text: String {
        var text = "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            text += name + sample.suffix
            if !sample.labels.isEmpty {
                text += "{" + sample.labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",") + "}"
            }
            text += " \(Self.number(sample.value))\n"
        }
        return text
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    static func number(_ value: Double) -> String {
        if value == .infinity { return "+Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
    }
}
