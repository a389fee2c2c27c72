/// The cost of a hash: memory in KiB, and passes over it. The parallelism is always 1.
package struct Argon2Parameters: Hashable, Sendable {
    package let memoryKiB: Int
    package let iterations: Int

    /// The second row of ``floor``.
    package init(memoryKiB: Int = 19_456, iterations: Int = 2) {
        self.memoryKiB = memoryKiB
        self.iterations = iterations
    }

    /// The equally strong minima of the OWASP Password Storage Cheat Sheet.
    package static let floor = [
        Argon2Parameters(memoryKiB: 47_104, iterations: 1),
        Argon2Parameters(memoryKiB: 19_456, iterations: 2),
        Argon2Parameters(memoryKiB: 12_288, iterations: 3),
        Argon2Parameters(memoryKiB: 9_216, iterations: 4),
        Argon2Parameters(memoryKiB: 7_168, iterations: 5),
    ]

    /// The maximum for a hash, so that a stored string cannot block a worker: 256 MiB and 10 passes.
    package static let ceiling = Argon2Parameters(memoryKiB: 256 * 1024, iterations: 10)

    /// Whether both numbers are at least those of one row of ``floor``.
    package var meetsFloor: Bool {
        Self.floor.contains { memoryKiB >= $0.memoryKiB && iterations >= $0.iterations }
    }

    /// Whether Argon2 can compute it (RFC 9106 §3.1: 8 KiB for the one lane) and neither number is above ``ceiling``.
    package var isWithinBounds: Bool {
        (8...Self.ceiling.memoryKiB).contains(memoryKiB) && (1...Self.ceiling.iterations).contains(iterations)
    }
}
