import Accounts
import Synchronization

/// Limits the number of concurrent operations, in total and for each client: for its IPv4 address, or for its /64, /56
/// and /48 of IPv6.
final class ConcurrencyLimiter: Sendable {
    private let maximum, maximumPerClient, maximumPerBlock: Int
    private let acquired = Mutex<(total: Int, byBlock: [Network.Block: Int])>((0, [:]))

    /// - Parameter maximumPerBlock: an upper bound for every network. Without it, a /56 of IPv6 may have 4 times and a
    ///   /48 may have 16 times as many operations as one client.
    init(_ maximum: Int = .max, perClient maximumPerClient: Int, perBlock maximumPerBlock: Int = .max) {
        (self.maximum, self.maximumPerClient, self.maximumPerBlock) = (maximum, maximumPerClient, maximumPerBlock)
    }

    /// Takes a slot. Returns false if a limit is reached. After true, call ``release(of:)`` when the operation ends.
    func acquire(for client: Network) -> Bool {
        let blocks = client.blocks
        return acquired.withLock { acquired in
            let isAllowed = blocks.allSatisfy { block in
                acquired.byBlock[block, default: 0] < min(maximumPerClient * block.multiple, maximumPerBlock)
            }
            guard acquired.total < maximum, isAllowed else { return false }
            acquired.total += 1
            for block in blocks { acquired.byBlock[block, default: 0] += 1 }
            return true
        }
    }

    func release(of client: Network) {
        let blocks = client.blocks
        acquired.withLock { acquired in
            guard blocks.allSatisfy({ acquired.byBlock[$0] != nil }) else { return }
            acquired.total -= 1
            for block in blocks {
                let count = acquired.byBlock[block, default: 0] - 1
                acquired.byBlock[block] = count > 0 ? count : nil
            }
        }
    }
}
