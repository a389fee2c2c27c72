internal import CArgon2
internal import Foundation

/// The working memory of Argon2 for one hash at a time. It is reused, so that a hash causes no page faults.
///
/// The memory starts at a 2 MiB boundary, so that the kernel can use huge pages for it, and is excluded from core
/// dumps. All of it is written to once when it is allocated. libargon2 wipes it at the end of each call.
///
/// An arena may have a thread of the lowest priority, which computes.
final class Arena {
    private let mapping: UnsafeMutableRawBufferPointer
    private let memory: UnsafeMutableRawBufferPointer
    private let idle: IdleThread?

    private static let hugePage = 2 * 1024 * 1024

    /// Throws `ARGON2_MEMORY_ALLOCATION_ERROR` if the kernel refuses to reserve the memory.
    ///
    /// - Parameter idle: the thread that computes; nil for the thread of the caller.
    init(kibibytes: Int, on idle: IdleThread? = nil) throws(Argon2Error) {
        self.idle = idle
        let size = kibibytes * 1024
        let reserved = size + 2 * Self.hugePage
        let access = PROT_READ | PROT_WRITE
        guard let start = mmap(nil, reserved, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), start != MAP_FAILED else {
            throw Argon2Error(code: ARGON2_MEMORY_ALLOCATION_ERROR.rawValue)
        }
        mapping = UnsafeMutableRawBufferPointer(start: start, count: reserved)
        memory = UnsafeMutableRawBufferPointer(start: start.alignedUp(toMultipleOf: Self.hugePage), count: size)
        // The results are ignored: hashing also works if the kernel rejects the advice, for example without huge pages.
        madvise(start, reserved, MADV_HUGEPAGE)
        madvise(start, reserved, MADV_DONTDUMP)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        munmap(mapping.baseAddress!, mapping.count)
    }

    /// Calls the body with the memory, which must not escape, on the thread that computes.
    func withMemory<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        var result: Result?
        run { result = body(memory) }
        return result!
    }

    /// Calls the body on the thread that computes, and waits for it.
    func run(_ body: () -> Void) {
        withExtendedLifetime(self) { if let idle { idle.run(body) } else { body() } }
    }
}

// Safe because one thread creates an arena and passes it to the only worker that uses it.
extension Arena: @unchecked Sendable {}
