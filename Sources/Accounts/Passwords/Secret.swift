internal import Foundation

/// Bytes that must not outlive their use: a password on its way from the request to the hash.
///
/// One owner, no copies, no `description`, no `Codable`; the memory is wiped before it is freed.
package struct Secret: ~Copyable {
    private let storage: UnsafeMutableRawBufferPointer
    /// Length in bytes.
    package let count: Int

    /// Reserves `capacity` bytes, lets `fill` write them, and keeps as many as it says it wrote.
    package init<E: Error>(capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(E) -> Int) throws(E) {
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: max(capacity, 1), alignment: 1)
        do {
            count = try fill(storage)
        } catch {
            explicit_bzero(storage.baseAddress!, storage.count)
            storage.deallocate()
            throw error
        }
        precondition(count <= storage.count, "a secret cannot be longer than the room it was given")
        self.storage = storage
    }

    deinit {
        explicit_bzero(storage.baseAddress!, storage.count)
        storage.deallocate()
    }

    /// Lends the bytes for the length of the call; they must not escape it.
    package borrowing func withBytes<Result, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> Result
    ) throws(E) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(storage)[..<count]))
    }
}

/// Room for a secret that comes in pieces. What is left behind when it grows is wiped.
package struct GrowingSecret: ~Copyable {
    private var storage: UnsafeMutableRawBufferPointer
    /// Bytes so far.
    package private(set) var count = 0

    /// - Parameter capacity: as long as it will be, where that is known.
    package init(capacity: Int) {
        storage = .allocate(byteCount: max(capacity, 1), alignment: 1)
    }

    deinit {
        explicit_bzero(storage.baseAddress!, storage.count)
        storage.deallocate()
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if storage.count - count < bytes.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(2 * storage.count, count + bytes.count),
                alignment: 1
            )
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[..<count]))
            explicit_bzero(storage.baseAddress!, storage.count)
            storage.deallocate()
            storage = larger
        }
        UnsafeMutableRawBufferPointer(rebasing: storage[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    /// Lends the bytes for the length of the call; they must not escape it.
    package borrowing func withBytes<Result, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> Result
    ) throws(E) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(storage)[..<count]))
    }
}

// The bytes are written once, in `init`, and only read afterwards.
extension Secret: @unchecked Sendable {}

/// A secret that a copyable value, such as ``JSON``, can carry; it is wiped with the last reference.
package final class SharedSecret: Sendable {
    package let secret: Secret

    package init(_ secret: consuming Secret) {
        self.secret = secret
    }
}
