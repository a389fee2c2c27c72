import Glibc
@_exported import Synchronization

/// Takes the place of `Synchronization.Mutex` in builds with the thread sanitizer. The sanitizer does not see the locks of
/// the standard library, so it would report every use of them as a race. It sees those of pthreads.
///
/// `scripts/sanitize` imports this module in place of `Synchronization`. Its own `Mutex` takes precedence over the other.
public final class Mutex<Value: ~Copyable>: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    public init(_ initialValue: consuming sending Value) {
        lock = .allocate(capacity: 1)
        precondition(pthread_mutex_init(lock, nil) == 0)
        value = initialValue
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        precondition(pthread_mutex_lock(lock) == 0)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value)
    }
}
