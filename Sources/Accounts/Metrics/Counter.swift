internal import Synchronization

/// A number that only increases, for each combination of label values.
package final class Counter: Metric {
    private let name: String
    private let help: String
    private let labels: [String]
    private let counts = Mutex<[[String]: Int]>([:])

    /// A counter without labels starts at zero, and so do the combinations in `known`. Any other combination appears
    /// with its first count, which Prometheus does not see as an increase.
    init(_ name: String, _ help: String, labels: [String] = [], from known: [[String]] = []) {
        (self.name, self.help, self.labels) = (name, help, labels)
        counts.withLock { counts in
            for values in labels.isEmpty ? [[]] : known { counts[values] = 0 }
        }
    }

    /// - Parameter values: one for each label, in the same order.
    package func add(_ amount: Int = 1, _ values: String...) {
        precondition(values.count == labels.count, "\(name) needs one value for each of its labels \(labels)")
        counts.withLock { $0[values, default: 0] += amount }
    }

    var family: Family {
        let samples = counts.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { values, count in
            Family.Sample(labels: Array(zip(labels, values)), value: Double(count))
        }
        return Family(name: name, help: help, kind: .counter, samples: samples)
    }
}
