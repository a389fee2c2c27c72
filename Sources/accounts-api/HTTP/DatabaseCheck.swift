/// Asks whether the database answers. Calls that arrive while a statement is running wait for its result, so that a
/// flood of health checks causes one statement at a time.
actor DatabaseCheck {
    private let ask: @Sendable () async -> Bool
    private var asking: Task<Bool, Never>?

    init(_ ask: @escaping @Sendable () async -> Bool) {
        self.ask = ask
    }

    func isUp() async -> Bool {
        if let asking { return await asking.value }
        let task = Task { await ask() }
        asking = task
        defer { asking = nil }
        return await task.value
    }
}
