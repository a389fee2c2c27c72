/// Decides what a stop signal means.
struct StopSignals {
    enum Meaning {
        case shutDown
        /// A repetition of the first signal. Some programs, such as timeout(1), send a signal to the process and then
        /// to its group.
        case ignored
        /// End at once.
        case end
    }

    private var first: ContinuousClock.Instant?

    /// The first signal starts a graceful shutdown. A signal within half a second after it is ignored, and a later
    /// signal ends the process at once.
    mutating func receive(at time: ContinuousClock.Instant) -> Meaning {
        guard let first else {
            first = time
            return .shutDown
        }
        return time - first < .milliseconds(500) ? .ignored : .end
    }
}
