internal import Foundation
internal import Synchronization

/// An operating system thread for work that blocks or takes long, so that it does not block the cooperative pool.
package final class DedicatedThread: Sendable {
    private let handle: pthread_t
    private let isJoined = Atomic(false)

    package enum Priority: String, CaseIterable, Sendable {
        case normal
        /// Gets almost no processor time while other threads of the machine need it (`SCHED_IDLE`).
        case idle
    }

    /// Starts the thread. The name must be ASCII. It is cut to 15 characters, the maximum on Linux.
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
                    // 5 is SCHED_IDLE of <linux/sched.h>. If the system does not permit it, the thread keeps its
                    // priority.
                    var parameters = sched_param()
                    pthread_setschedparam(pthread_self(), 5, &parameters)
                }
                start.body()
                return nil
            },
            start.toOpaque()
        )
        precondition(status == 0, "cannot create a thread: \(String(cString: strerror(status)))")
        self.handle = handle
    }

    /// Detaches the thread if it was not joined. The system keeps the stack of a thread that is neither joined nor
    /// detached.
    deinit {
        if !isJoined.load(ordering: .relaxed) { pthread_detach(handle) }
    }

    /// Waits until the body has returned. Call it once.
    package func join() {
        isJoined.store(true, ordering: .relaxed)
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
