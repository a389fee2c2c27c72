internal import Synchronization

/// How long the latest deliveries took. A withheld mail takes as long as one of them, so that the mails after it do not
/// arrive earlier than after a delivered one.
final class MailPace: Sendable {
    /// The number of deliveries that are remembered.
    static let memory = 64
    /// The time of a withheld mail before any delivery.
    static let initial = Duration.milliseconds(100)

    private let clock: any Clock<Duration>
    private let latest = Mutex<[Duration]>([])

    init(on clock: any Clock<Duration>) {
        self.clock = clock
    }

    /// Remembers the time of that delivery, unless it fails.
    func measure(_ delivery: () async throws(MailError) -> Void) async throws(MailError) {
        let time = try await Self.time(of: delivery, on: clock)
        latest.withLock { $0 = $0.suffix(Self.memory - 1) + [time] }
    }

    /// Waits for the time of one of the latest deliveries, chosen at random. Ends early if the task is cancelled.
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
