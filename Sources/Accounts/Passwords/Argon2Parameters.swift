/// The cost of a hash: the memory in KiB, and the number of passes over it. Hashes of this service have one lane.
package struct Argon2Parameters: Hashable, Sendable {
    package let memoryKiB: Int
    package let iterations: Int

    /// The default is the second row of ``floor``.
    package init(memoryKiB: Int = 19_456, iterations: Int = 2) {
        self.memoryKiB = memoryKiB
        self.iterations = iterations
    }

    /// The memory in KiB that a worker of ``HashingPool`` uses in addition to the memory of the hash.
    package static let overheadKiB = 2048

    /// The memory in KiB of a ``HashingPool`` with this number of workers.
    package func memoryKiB(ofWorkers workers: Int) -> Int { workers * (memoryKiB + Self.overheadKiB) }

    /// The minimum costs of the OWASP Password Storage Cheat Sheet. All rows are about equally strong.
    package static let floor = [
        Argon2Parameters(memoryKiB: 47_104, iterations: 1),
        Argon2Parameters(memoryKiB: 19_456, iterations: 2),
        Argon2Parameters(memoryKiB: 12_288, iterations: 3),
        Argon2Parameters(memoryKiB: 9_216, iterations: 4),
        Argon2Parameters(memoryKiB: 7_168, iterations: 5),
    ]

    /// The maximum cost: 256 MiB and 10 passes. It keeps a stored hash with a huge cost from blocking a worker.
    package static let ceiling = Argon2Parameters(memoryKiB: 256 * 1024, iterations: 10)

    /// Whether both numbers are at least those of one row of ``floor``.
    package var meetsFloor: Bool {
        Self.floor.contains { memoryKiB >= $0.memoryKiB && iterations >= $0.iterations }
    }

    /// Whether the memory is at least 8 KiB (RFC 9106 §3.1, for one lane), there is at least one pass, and neither
    /// number is above ``ceiling``.
    package var isWithinBounds: Bool {
        (8...Self.ceiling.memoryKiB).contains(memoryKiB) && (1...Self.ceiling.iterations).contains(iterations)
    }
}
