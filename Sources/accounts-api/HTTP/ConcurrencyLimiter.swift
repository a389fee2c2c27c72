import Accounts
import Synchronization

/// Limits the number of concurrent operations, in total and for one client network.
final class ConcurrencyLimiter: Sendable {
    private let maximum, maximumPerClient: Int
    private let acquired = Mutex<(total: Int, byClient: [Network: Int])>((0, [:]))

    init(_ maximum: Int = .max, perClient maximumPerClient: Int) {
        (self.maximum, self.maximumPerClient) = (maximum, maximumPerClient)
    }

    /// Returns false if a limit is reached. Release each slot that was acquired.
    func acquire(for client: Network) -> Bool {
        acquired.withLock { acquired in
            guard acquired.total < maximum, acquired.byClient[client, default: 0] < maximumPerClient else {
                return false
            }
            acquired.total += 1
            acquired.byClient[client, default: 0] += 1
            return true
        }
    }

    func release(of client: Network) {
        acquired.withLock { acquired in
            guard let count = acquired.byClient[client] else { return }
            acquired.total -= 1
            acquired.byClient[client] = count > 1 ? count - 1 : nil
        }
    }
}
