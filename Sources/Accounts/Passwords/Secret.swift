internal import Foundation

/// Bytes that must be wiped after use, such as a password until it is hashed.
///
/// A secret has one owner and cannot be copied, described or encoded. Its memory is wiped before it is freed.
package struct Secret: ~Copyable {
    private let storage: UnsafeMutableRawBufferPointer
    /// The length in bytes.
    package let count: Int

    /// Reserves `capacity` bytes and calls `fill`, which writes to them and returns the number of bytes written.
    package init<E: Error>(capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(E) -> Int) throws(E) {
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: max(capacity, 1), alignment: 1)
        do {
            count = try fill(storage)
        } catch {
            explicit_bzero(storage.baseAddress!, storage.count)
            storage.deallocate()
            throw error
        }
        precondition(count <= storage.count, "a secret must not be longer than its buffer")
        self.storage = storage
    }

    deinit {
        explicit_bzero(storage.baseAddress!, storage.count)
        storage.deallocate()
    }

    /// Calls the body with the bytes, which must not escape.
    package borrowing func withBytes<Result: ~Copyable, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> Result
    ) throws(E) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(storage)[..<count]))
    }
}

/// A buffer for a secret that arrives in pieces. When it grows, the old memory is wiped.
package struct GrowingSecret: ~Copyable {
    private var storage: UnsafeMutableRawBufferPointer
    /// The number of bytes that were appended so far.
    package private(set) var count = 0

    /// - Parameter capacity: the expected length in bytes. The buffer grows if more bytes arrive.
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

    /// Calls the body with the bytes, which must not escape.
    package borrowing func withBytes<Result, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> Result
    ) throws(E) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(storage)[..<count]))
    }
}

// Safe because the bytes are written only in `init`.
extension Secret: @unchecked Sendable {}

/// A reference to a secret, for values that can be copied, such as a ``FieldAnswer``. The secret is wiped when the last
/// reference is released.
package final class SharedSecret: Sendable {
    package let secret: Secret

    package init(_ secret: consuming Secret) {
        self.secret = secret
    }
}
