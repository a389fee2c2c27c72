/// The waits between ten attempts, which take more than three days, as Standard Webhooks recommends.
enum RetrySchedule {
    /// The waits in seconds: after the first attempt, after the second, and so on.
    private static let delays = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

    /// Returns the seconds until the next attempt, with a random addition of up to a tenth, so that attempts do not
    /// come all at once; nil after the last attempt.
    static func delay(after attempts: Int) -> Int? {
        guard delays.indices.contains(attempts - 1) else { return nil }
        let delay = delays[attempts - 1]
        return delay + Int.random(in: 0...(delay / 10))
    }
}
