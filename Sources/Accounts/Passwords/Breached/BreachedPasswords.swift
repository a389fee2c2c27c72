package import Logging
internal import Synchronization

/// The list of hashes of breached passwords in the file that `BREACHED_PASSWORDS_FILE` names.
package struct BreachedList: Sendable {
    private let hash: BreachedHash
    private let file: HashFile

    /// Opens the file and checks it (``HashFile/init(path:)``). Throws if the file cannot be read, if the checked lines
    /// are not a sorted list of hashes, or if their number of digits does not show the hash function or does not fit
    /// the stated one.
    ///
    /// - Parameter text: the path of the file, after `sha1:` or `ntlm:` if the hash function is stated. It must be
    ///   stated if the lines contain only the first digits of the hashes.
    package init(_ text: String) throws(HashFileError) {
        let stated = BreachedHash.allCases.first { text.hasPrefix("\($0.rawValue):") }
        file = try HashFile(path: String(text.dropFirst(stated.map { $0.rawValue.count + 1 } ?? 0)))
        let digits = file.digitCount
        guard let hash = stated ?? BreachedHash.allCases.first(where: { $0.digitCount == digits }) else {
            throw .ambiguous(digits: digits)
        }
        guard digits <= hash.digitCount else { throw .tooManyDigits(digits, hash) }
        self.hash = hash
    }

    /// Whether the list contains the hash of this canonical password. Blocks until the disk has answered.
    func contains(_ password: borrowing Secret) throws(HashFileError) -> Bool {
        try file.contains(hash.digits(of: password))
    }
}

/// Looks passwords up in a list of breached passwords, on two threads of its own, because a disk may be slow.
package final class BreachedPasswords: Sendable {
    private let list: BreachedList
    private let pool: WorkPool<Int>
    private let failures: FailureLog

    package init(_ list: BreachedList, logger: Logger) {
        (self.list, failures) = (list, FailureLog(logger))
        pool = WorkPool(
            named: "breached",
            [0, 1],
            queue: 64,
            maximumWait: .seconds(5),
            finished: { _ in },
            rejected: {}
        )
    }

    /// Returns whether the list contains the hash of this canonical password. If the file cannot be searched, logs an
    /// error, at most once a minute, and returns false.
    ///
    /// Throws `rejected` for the same reasons as ``HashingPool/hash(_:pepper:for:)``.
    ///
    /// - Parameter network: the network that sent the password. Networks are served in turn.
    package func contain(_ password: SharedSecret, for network: Network) async throws(HashingError) -> Bool {
        do throws(WorkRejection) {
            return try await pool.run(for: network) { [list, failures] _ in
                do throws(HashFileError) { return try list.contains(password.secret) } catch {
                    // Reports the error on this thread, because the caller may have given up at its deadline.
                    failures.report(error)
                    return false
                }
            }
        } catch {
            throw .rejected(error)
        }
    }

    /// Rejects waiting passwords with `stopped`, and blocks until the threads have ended.
    package func shutdown() { pool.shutdown() }
}

/// Logs that the file cannot be searched, at most once a minute.
private final class FailureLog: Sendable {
    private let logger: Logger
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    init(_ logger: Logger) {
        self.logger = logger
    }

    func report(_ error: HashFileError) {
        let now = ContinuousClock.now
        let isDue = last.withLock { last in
            if let last, now - last < .seconds(60) { return false }
            last = now
            return true
        }
        if isDue {
            logger.error(
                "cannot search the list of breached passwords, so they are not refused",
                metadata: ["reason": "\(error)"]
            )
        }
    }
}
