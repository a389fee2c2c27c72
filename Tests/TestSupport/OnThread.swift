internal import Accounts

/// Runs blocking code on a new thread, and waits for it without blocking other tests.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    var thread: DedicatedThread?
    let outcome = await withCheckedContinuation { finished in
        thread = DedicatedThread(named: "test") { finished.resume(returning: Result(catching: body)) }
    }
    thread?.join()
    return try outcome.get()
}
