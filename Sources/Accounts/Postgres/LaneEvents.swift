internal import CPostgres
internal import Foundation

/// What an idle ``Lane`` waits for (epoll(7)).
///
/// Several lanes wait for the same wakeups. The kernel gives each wakeup to one of them, if possible to the one that
/// began to use its connection first, whose memory and connection are therefore in the caches of the processor.
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

    /// - Parameter socket: the socket of the connection, which must be open.
    init(socket: Int32, queue: LaneQueue) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        precondition(descriptor >= 0, "cannot create an epoll instance")
        add(socket, as: .socket)
        add(queue.wakeupEvent, as: .wakeup, EPOLLEXCLUSIVE.rawValue)
        add(queue.stopEvent, as: .stop)
    }

    deinit {
        close(descriptor)
    }

    private func add(_ source: Int32, as ready: Ready, _ flags: UInt32 = 0) {
        var event = epoll_event(events: EPOLLIN.rawValue | flags, data: epoll_data_t(u32: ready.rawValue))
        precondition(epoll_ctl(descriptor, EPOLL_CTL_ADD, source, &event) == 0, "cannot wait for an event")
    }

    /// Waits until an event happens or a signal interrupts the wait, and returns what is ready then.
    func wait() -> Ready {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 3) { events in
            let count = epoll_wait(descriptor, events.baseAddress, Int32(events.count), -1)
            return events.prefix(max(0, Int(count))).reduce(into: []) { $0.insert(Ready(rawValue: $1.data.u32)) }
        }
    }
}
