import Testing

@testable import Accounts

@Suite("Metrics in the text format of Prometheus")
struct MetricTests {
    @Test func `a counter has a line for each combination of labels, in sorted order`() {
        let counter = Counter("things_total", "Things.", labels: ["kind"])
        counter.add(1, "b")
        counter.add(2, "a")
        counter.add(1, "b")
        #expect(
            counter.family.text == """
                # HELP things_total Things.
                # TYPE things_total counter
                things_total{kind="a"} 2
                things_total{kind="b"} 2

                """
        )
    }

    @Test func `a counter without labels starts at zero`() {
        #expect(Counter("things_total", "Things.").family.text.hasSuffix("\nthings_total 0\n"))
    }

    @Test func `a counter with predefined labels starts at zero for each of them`() {
        let counter = Counter("things_total", "Things.", labels: ["kind"], from: [["a"], ["b"]])
        counter.add(1, "b")
        #expect(counter.family.text.hasSuffix("\nthings_total{kind=\"a\"} 0\nthings_total{kind=\"b\"} 1\n"))
    }

    @Test func `the counter of reached limits starts at zero for every limit that clients are told`() {
        let samples = Metrics().limits.family.samples
        let others = [
            "address_changes", "app_guesses_for_account", "consent_changes", "handoff", "mails_by_ticket",
            "recovery_code_guesses_for_account", "resend", "revisions",
        ]
        #expect(samples.map { $0.labels[0].value } == (Limits.Name.allCases.map(\.rawValue) + others).sorted())
        #expect(samples.allSatisfy { $0.value == 0 })
    }

    @Test func `label values are escaped`() {
        let counter = Counter("things_total", "Things.", labels: ["kind"])
        counter.add(1, "a\"b\\c\nd")
        #expect(counter.family.text.hasSuffix("\nthings_total{kind=\"a\\\"b\\\\c\\nd\"} 1\n"))
    }

    @Test func `a histogram counts each value in its bucket and all larger ones`() {
        let histogram = Histogram("time_seconds", "Time.", labels: ["route"], bounds: [0.1, 1])
        for time in [Duration.milliseconds(100), .milliseconds(101), .seconds(3)] { histogram.record(time, "x") }
        #expect(
            histogram.family.text == """
                # HELP time_seconds Time.
                # TYPE time_seconds histogram
                time_seconds_bucket{route="x",le="0.1"} 1
                time_seconds_bucket{route="x",le="1"} 2
                time_seconds_bucket{route="x",le="+Inf"} 3
                time_seconds_sum{route="x"} 3.201
                time_seconds_count{route="x"} 3

                """
        )
    }
}
