import Testing

@testable import Accounts

@Suite("The delay of the metrics from the database")
struct RefreshDelayTests {
    private let start = ContinuousClock.now

    /// Whether the database is too late at the last of these scrapes, in seconds after the start.
    private func isLate(scrapes: [Int], answers: [Int]) -> Bool {
        var delay = RefreshDelay()
        var isLate = false
        for second in 0...60 {
            let now = start + .seconds(second)
            if answers.contains(second) { delay.answer(at: now) }
            if scrapes.contains(second) { isLate = delay.scrape(at: now) }
        }
        return isLate
    }

    @Test func `a database that answers nothing for more than ten seconds is too late`() {
        #expect(!isLate(scrapes: [0], answers: []))
        #expect(!isLate(scrapes: [0, 10], answers: []))
        #expect(isLate(scrapes: [0, 11], answers: []))
        #expect(!isLate(scrapes: [20], answers: [1]), "nobody has asked before")
    }

    @Test func `a database that answers each query in time is not too late`() {
        #expect(!isLate(scrapes: [0, 18], answers: [5, 14]))
        #expect(isLate(scrapes: [0, 25], answers: [5, 14]))
    }
}
