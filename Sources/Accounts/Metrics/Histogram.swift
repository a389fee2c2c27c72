internal import Synchronization

/// Counts numbers by range, for each combination of label values.
package final class Histogram: Metric {
    private let name: String
    private let help: String
    private let labels: [String]
    /// The upper bounds of the ranges in ascending order; one more range is above them.
    private let bounds: [Double]
    private let series = Mutex<[[String]: Series]>([:])

    private struct Series {
        var counts: [Int]
        var sum = 0.0
    }

    /// Bounds in seconds, from a millisecond to half a minute.
    static let seconds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]

    init(_ name: String, _ help: String, labels: [String] = [], bounds: [Double] = Histogram.seconds) {
        (self.name, self.help, self.labels, self.bounds) = (name, help, labels, bounds)
    }

    /// - Parameter values: one for each label, in the same order.
    package func record(_ number: Double, _ values: String...) {
        record(number, values)
    }

    /// Records the time in seconds.
    package func record(_ time: Duration, _ values: String...) {
        record(time / .seconds(1), values)
    }

    private func record(_ number: Double, _ values: [String]) {
        precondition(values.count == labels.count, "\(name) needs one value for each of its labels \(labels)")
        let range = bounds.firstIndex { number <= $0 } ?? bounds.count
        series.withLock { series in
            series[values, default: Series(counts: [Int](repeating: 0, count: bounds.count + 1))].counts[range] += 1
            series[values]?.sum += number
        }
    }

    var family: Family {
        var samples: [Family.Sample] = []
        let all = series.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        for (values, series) in all {
            let pairs = Array(zip(labels, values))
            var count = 0
            for (bound, bucketCount) in zip(bounds + [.infinity], series.counts) {
                count += bucketCount
                let range = [(name: "le", value: Family.number(bound))]
                samples.append(.init(suffix: "_bucket", labels: pairs + range, value: Double(count)))
            }
            samples.append(.init(suffix: "_sum", labels: pairs, value: series.sum))
            samples.append(.init(suffix: "_count", labels: pairs, value: Double(count)))
        }
        return Family(name: name, help: help, kind: .histogram, samples: samples)
    }
}
