internal import Dispatch

/// A thread with the lowest priority (``DedicatedThread/Priority/idle``) that computes for another thread, which waits
/// for it.
///
/// The system may stop such a thread at any moment, for as long as other threads need the processor. If it held a lock
/// then, every thread that needs the lock would wait as long. So it should only compute. It should not allocate memory
/// either, because the allocator and the kernel have locks, too.
final class IdleThread: Sendable {
    private let work = Slot()
    private let thread: DedicatedThread

    /// - Parameter name: as for ``DedicatedThread``.
    init(named name: String) {
        thread = DedicatedThread(named: name, priority: .idle) { [work] in while work.runNext() {} }
    }

    deinit {
        work.close()
        thread.join()
    }

    /// Runs the body on the thread, and blocks until it has returned. Only one caller at a time may call this function.
    func run(_ body: () -> Void) {
        withoutActuallyEscaping(body) { work.run($0) }
    }

    // Safe because the semaphores order all accesses.
    private final class Slot: @unchecked Sendable {
        private let begun = DispatchSemaphore(value: 0)
        private let ended = DispatchSemaphore(value: 0)
        private var body: (() -> Void)?

        func run(_ body: @escaping () -> Void) {
            self.body = body
            begun.signal()
            ended.wait()
        }

        /// Lets the thread end.
        func close() {
            begun.signal()
        }

        /// Waits for a body and runs it. Returns false after ``close()``.
        func runNext() -> Bool {
            begun.wait()
            guard runBody() else { return false }
            ended.signal()
            return true
        }

        /// A function of its own, so that nothing refers to the body any more when the caller goes on.
        @inline(never) private func runBody() -> Bool {
            guard let body = body.take() else { return false }
            body()
            return true
        }
    }
}
