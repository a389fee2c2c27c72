internal import CArgon2
internal import Foundation

/// The working memory of one hash at a time, kept and reused, so that no hash pays for page faults.
///
/// It begins on a 2 MiB boundary, is asked to be huge pages, has been touched, and stays out of core dumps. libargon2
/// wipes it at the end of every call.
final class Arena {
    private let mapping: UnsafeMutableRawBufferPointer
    private let memory: UnsafeMutableRawBufferPointer

    private static let hugePage = 2 * 1024 * 1024

    /// Throws `ARGON2_MEMORY_ALLOCATION_ERROR` where the system gives no memory.
    init(kibibytes: Int) throws(Argon2Error) {
        let size = kibibytes * 1024
        let reserved = size + 2 * Self.hugePage
        let access = PROT_READ | PROT_WRITE
        guard let start = mmap(nil, reserved, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), start != MAP_FAILED else {
            throw Argon2Error(code: ARGON2_MEMORY_ALLOCATION_ERROR.rawValue)
        }
        mapping = UnsafeMutableRawBufferPointer(start: start, count: reserved)
        memory = UnsafeMutableRawBufferPointer(start: start.alignedUp(toMultipleOf: Self.hugePage), count: size)
        // Advice: a kernel that knows no huge pages says no, and everything still works.
        madvise(start, reserved, MADV_HUGEPAGE)
        madvise(start, reserved, MADV_DONTDUMP)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        munmap(mapping.baseAddress!, mapping.count)
    }

    /// Lends the memory for the length of the call.
    func withMemory<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        withExtendedLifetime(self) { body(memory) }
    }
}

// Made by one thread and handed to the one worker that uses it from then on; two never share it.
extension Arena: @unchecked Sendable {}
