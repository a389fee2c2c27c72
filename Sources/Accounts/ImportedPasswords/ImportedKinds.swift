package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// The kinds of imported hashes that accounts still have, and how long a check of each kind takes.
///
/// A failed sign-in takes at least as long as a check of the slowest kind, even if no account has the typed identifier.
/// So its duration does not reveal whether an account exists, or how its password is hashed.
package final class ImportedKinds: Sendable {
    private let signups: Signups
    private let logger: Logger
    /// The assumed duration of a check, by the kind of the hash. ``refresh()`` computes it from measured durations and
    /// ``margin``.
    private let times = Mutex<[String: Duration]>([:])

    package init(signups: Signups, logger: Logger) {
        (self.signups, self.logger) = (signups, logger)
    }

    /// The assumed duration of a check of the slowest kind; zero if no kind was measured.
    var slowest: Duration { times.withLock { $0.values.max() ?? .zero } }

    /// The kinds that were measured.
    var kinds: Set<String> { times.withLock { Set($0.keys) } }

    /// Reads which kinds accounts have. Measures the new kinds, and measures the slowest kind again, because a check
    /// takes longer on a busy machine. Does not use the durations of checks in requests: the duration of a failed
    /// sign-in shows everyone the time of the slowest kind, which would then depend on the sign-ins of other people.
    package func refresh() async throws(DatabaseError) {
        var kinds: Set<String> = []
        for row in try await signups.database.read("SELECT * FROM imported_kinds()") {
            kinds.insert(try row.decode(String.self))
        }
        let (known, slowest) = times.withLock { times in
            times = times.filter { kinds.contains($0.key) }
            return (Set(times.keys), times.max { $0.value < $1.value }?.key)
        }
        for kind in kinds.subtracting(known).union([slowest].compactMap { $0 }) {
            guard let time = await time(of: kind) else { continue }
            times.withLock { $0[kind] = max(time * Self.margin, ($0[kind] ?? .zero) * 0.7) }
        }
    }

    /// The factor by which a check may take longer than the measured check.
    private static let margin = 1.5

    /// A salt of zeros in the base64 of crypt(3). libcrypt refuses a salt for yescrypt if one of its unused bits is set,
    /// and a check that is refused takes no time.
    static let salt = Array(repeating: UInt8(ascii: "."), count: 22)

    private func time(of kind: String) async -> Duration? {
        let salt = Self.salt
        guard let method = ImportedHash.method(of: kind[...], salt: salt) else { return nil }
        // Some methods take longer for longer passwords.
        let password = SharedSecret(Secret(normalising: String(repeating: "a", count: CryptHash.maximumLength)))
        let argon2 = PHCString(
            parameters: signups.hashing.parameters,
            salt: salt,
            tag: Array(repeating: 0, count: 32)
        )
        return try? await signups.hashing.check(password, against: StoredPassword(argon2, over: method)).time
    }
}

extension ImportedKinds: Service {
    package func run() async throws {
        for await _ in Ticks(every: .seconds(60)).cancelOnGracefulShutdown() {
            do throws(DatabaseError) {
                try await refresh()
            } catch {
                signups.metrics.failures.add(1, "imported")
                logger.error("cannot read the kinds of imported passwords", metadata: ["reason": "\(error)"])
            }
        }
    }
}
