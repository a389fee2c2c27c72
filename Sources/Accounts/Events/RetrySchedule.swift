/// When an attempt that has failed is repeated: over more than three days, as Standard Webhooks recommends.
enum RetrySchedule {
    /// In seconds, after the first attempt, the second, and so on.
    private static let delays = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

    /// The seconds until the next attempt, with up to a tenth more so that the attempts spread; nil after the last one.
    static func delay(after attempts: Int) -> Int? {
        guard delays.indices.contains(attempts - 1) else { return nil }
        let delay = delays[attempts - 1]
        return delay + Int.random(in: 0...(delay / 10))
    }
}
