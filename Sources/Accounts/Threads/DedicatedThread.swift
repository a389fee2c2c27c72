internal import Foundation

/// An operating system thread of our own, for C calls that block and must not hold up the cooperative pool.
package final class DedicatedThread: Sendable {
    private let handle: pthread_t

    package enum Priority: String, CaseIterable, Sendable {
        case normal
        /// Runs while nobody else on the machine wants to (`SCHED_IDLE`).
        case idle
    }

    /// Starts at once. The name is cut to 15 bytes, the most that Linux shows.
    package init(named name: String, priority: Priority = .normal, _ body: @escaping @Sendable () -> Void) {
        let start = Unmanaged.passRetained(Start(name: name, priority: priority, body: body))
        var handle = pthread_t()
        let status = pthread_create(
            &handle,
            nil,
            { raw in
                let start = Unmanaged<Start>.fromOpaque(raw!).takeRetainedValue()
                Thread.current.name = String(start.name.prefix(15))
                if start.priority == .idle {
                    // SCHED_IDLE of <linux/sched.h>; a system that does not let us leaves the thread as it is.
                    var parameters = sched_param()
                    pthread_setschedparam(pthread_self(), 5, &parameters)
                }
                start.body()
                return nil
            },
            start.toOpaque()
        )
        precondition(status == 0, "the system gave no thread: \(String(cString: strerror(status)))")
        self.handle = handle
    }

    /// Waits until the body has returned. To be called once.
    package func join() {
        pthread_join(handle, nil)
    }

    private final class Start {
        let name: String
        let priority: Priority
        let body: @Sendable () -> Void

        init(name: String, priority: Priority, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.priority = priority
            self.body = body
        }
    }
}
