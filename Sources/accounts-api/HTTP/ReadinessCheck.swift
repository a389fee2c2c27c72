/// Asks whether the service can do its work. Requests that come while it asks wait for the same answer, so that a flood of
/// them makes no more statements than one.
actor ReadinessCheck {
    private let ask: @Sendable () async -> Bool
    private var asking: Task<Bool, Never>?

    init(_ ask: @escaping @Sendable () async -> Bool) {
        self.ask = ask
    }

    func answer() async -> Bool {
        if let asking { return await asking.value }
        let task = Task { await ask() }
        asking = task
        defer { asking = nil }
        return await task.value
    }
}
