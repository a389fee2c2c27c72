package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// How long checks of the imported hashes take that accounts still have.
///
/// A failed sign-in takes as long as the slowest of them, whether or not there is such an account.
package final class ImportedKinds: Sendable {
    private let signups: Signups
    private let logger: Logger
    /// The time of a check by the kind of the hash.
    private let times = Mutex<[String: Duration]>([:])

    package init(signups: Signups, logger: Logger) {
        (self.signups, self.logger) = (signups, logger)
    }

    /// Zero if no account has an imported hash.
    var slowest: Duration { times.withLock { $0.values.max() ?? .zero } }

    /// Reads which kinds accounts have, and measures those that are new, and the slowest one again: a busy machine takes
    /// longer. No request has an influence on the times, because they can be read from the answers.
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

    /// What a check may take longer than the measured one.
    private static let margin = 1.5

    private func time(of kind: String) async -> Duration? {
        let salt = Array(repeating: UInt8(ascii: "a"), count: 22)
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
