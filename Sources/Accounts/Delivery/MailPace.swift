internal import Synchronization

/// The durations of the latest deliveries. If an address must get no mail, for example because a recovery names an
/// address without an account, the outbox contains a withheld mail. In place of sending it, the sender waits for one
/// of these durations, so that the arrival of the next mail does not reveal that a mail was withheld.
final class MailPace: Sendable {
    /// The maximum number of deliveries that are remembered.
    static let memory = 64
    /// The wait in place of a withheld mail while no delivery is remembered.
    static let initial = Duration.milliseconds(100)

    private let clock: any Clock<Duration>
    private let latest = Mutex<[Duration]>([])

    init(on clock: any Clock<Duration>) {
        self.clock = clock
    }

    /// Runs the delivery, remembers its duration if it succeeds, and returns its result.
    func measure<Value>(_ delivery: () async throws(MailError) -> Value) async throws(MailError) -> Value {
        let (value, time) = try await Self.timed(delivery, on: clock)
        latest.withLock { $0 = $0.suffix(Self.memory - 1) + [time] }
        return value
    }

    /// Waits for the duration of one of the latest deliveries, chosen at random. Returns early if the task is
    /// cancelled.
    func imitate() async {
        try? await clock.sleep(for: latest.withLock { $0.randomElement() } ?? Self.initial)
    }

    private static func timed<Value, Time: Clock<Duration>>(
        _ delivery: () async throws(MailError) -> Value,
        on clock: Time
    ) async throws(MailError) -> (Value, Duration) {
        let start = clock.now
        let value = try await delivery()
        return (value, start.duration(to: clock.now))
    }
}
