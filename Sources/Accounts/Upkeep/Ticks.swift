/// Produces an element immediately, and one after each pause, until the task is cancelled.
package struct Ticks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private let pause: Duration
    private var isFirst = true

    package init(every pause: Duration) {
        self.pause = pause
    }

    package func makeAsyncIterator() -> Ticks { self }

    package mutating func next() async -> Void? {
        defer { isFirst = false }
        if isFirst { return () }
        return try? await Task.sleep(for: pause)
    }
}
