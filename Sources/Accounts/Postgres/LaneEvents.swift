internal import CPostgres
internal import Foundation

/// What an idle ``Lane`` waits for (epoll(7)).
///
/// Several lanes wait for the same wakeups. For each, the kernel wakes as few of them as possible (`EPOLLEXCLUSIVE`),
/// not all.
struct LaneEvents: ~Copyable {
    private let descriptor: Int32

    struct Ready: OptionSet {
        let rawValue: UInt32

        /// The connection has data, or has ended.
        static let socket = Ready(rawValue: 1)
        /// The queue needs a lane (``LaneQueue/wakeupEvent``).
        static let wakeup = Ready(rawValue: 2)
        /// The queue has stopped.
        static let stop = Ready(rawValue: 4)
    }

    /// Throws `unavailable` if this process has no file descriptor left, or if the socket is closed.
    init(socket: Int32, queue: LaneQueue) throws(DatabaseError) {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw Self.failure }
        let sources: [(Int32, Ready, flags: UInt32)] = [
            (socket, .socket, 0), (queue.wakeupEvent, .wakeup, EPOLLEXCLUSIVE.rawValue), (queue.stopEvent, .stop, 0),
        ]
        for (source, ready, flags) in sources {
            var event = epoll_event(events: EPOLLIN.rawValue | flags, data: epoll_data_t(u32: ready.rawValue))
            guard epoll_ctl(descriptor, EPOLL_CTL_ADD, source, &event) == 0 else {
                let failure = Self.failure
                close(descriptor)
                throw failure
            }
        }
        self.descriptor = descriptor
    }

    private static var failure: DatabaseError {
        .unavailable("cannot wait for a connection: \(String(cString: strerror(errno)))")
    }

    deinit {
        close(descriptor)
    }

    /// Waits until an event happens or a signal interrupts the wait, and returns what is ready then.
    func wait() -> Ready {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 3) { events in
            let count = epoll_wait(descriptor, events.baseAddress, Int32(events.count), -1)
            return events.prefix(max(0, Int(count))).reduce(into: []) { $0.insert(Ready(rawValue: $1.data.u32)) }
        }
    }
}
