internal import CSpawn
internal import Foundation

/// Protects the memory of this process, because it contains what people type.
package enum MemoryDumps {
    /// Makes the kernel write no core dump of this process, and keeps other processes of the same user from reading its
    /// memory.
    ///
    /// - Returns: the reason why the kernel has refused the change; nil after success.
    package static func forbid() -> String? {
        forbid_dumps() == 0 ? nil : String(cString: strerror(errno))
    }
}
