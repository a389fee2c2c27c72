internal import Synchronization

/// The durations of the latest deliveries. In place of a withheld mail, the sender waits for one of them, so that the
/// arrival of the next mail does not reveal that one was withheld.
final class MailPace: Sendable {
    /// The number of deliveries that are remembered.
    static let memory = 64
    /// The wait in place of a withheld mail while no delivery is remembered.
    static let initial = Duration.milliseconds(100)

    private let clock: any Clock<Duration>
    private let latest = Mutex<[Duration]>([])

    init(on clock: any Clock<Duration>) {
        self.clock = clock
    }

    /// Runs the delivery, and remembers its duration if it succeeds.
    func measure(_ delivery: () async throws(MailError) -> Void) async throws(MailError) {
        let time = try await Self.time(of: delivery, on: clock)
        latest.withLock { $0 = $0.suffix(Self.memory - 1) + [time] }
    }

    /// Waits for the duration of one of the latest deliveries, chosen at random. Returns early if the task is
    /// cancelled.
    func imitate() async {
        try? await clock.sleep(for: latest.withLock { $0.randomElement() } ?? Self.initial)
    }

    private static func time<Time: Clock<Duration>>(
        of delivery: () async throws(MailError) -> Void,
        on clock: Time
    ) async throws(MailError) -> Duration {
        let start = clock.now
        try await delivery()
        return start.duration(to: clock.now)
    }
}
