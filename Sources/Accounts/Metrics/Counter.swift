internal import Synchronization

/// A number that only grows, for each combination of its labels.
package final class Counter: Metric {
    private let name: String
    private let help: String
    private let labels: [String]
    private let counts = Mutex<[[String]: Int]>([:])

    /// Without labels it begins at zero, and so do the combinations that are named; others appear with their first count,
    /// which then is no increase to whoever compares.
    init(_ name: String, _ help: String, labels: [String] = [], from known: [[String]] = []) {
        (self.name, self.help, self.labels) = (name, help, labels)
        counts.withLock { counts in
            for values in labels.isEmpty ? [[]] : known { counts[values] = 0 }
        }
    }

    /// - Parameter values: one for each label, in their order.
    package func add(_ amount: Int = 1, _ values: String...) {
        precondition(values.count == labels.count, "\(name) has the labels \(labels)")
        counts.withLock { $0[values, default: 0] += amount }
    }

    var family: Family {
        let samples = counts.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { values, count in
            Family.Sample(labels: Array(zip(labels, values)), value: Double(count))
        }
        return Family(name: name, help: help, kind: .counter, samples: samples)
    }
}
