internal import CSpawn
internal import Foundation

/// The memory of the server contains what people type.
package enum MemoryDumps {
    /// Makes the kernel write no core dump of this process, and keeps other processes of the same user from reading its
    /// memory.
    ///
    /// - Returns: why that is impossible; nil if it succeeded.
    package static func forbid() -> String? {
        forbid_dumps() == 0 ? nil : String(cString: strerror(errno))
    }
}
