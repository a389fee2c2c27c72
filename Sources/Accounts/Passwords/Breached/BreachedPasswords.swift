package import Logging
internal import Synchronization

/// The list that `BREACHED_PASSWORDS_FILE` names.
package struct BreachedList: Sendable {
    private let hash: BreachedHash
    private let file: HashFile

    /// Opens the file and checks it.
    ///
    /// - Parameter text: the path, after `sha1:` or `ntlm:` if the file contains only the first digits of the hashes.
    package init(_ text: String) throws(HashFileError) {
        let stated = BreachedHash.allCases.first { text.hasPrefix("\($0.rawValue):") }
        file = try HashFile(path: String(text.dropFirst(stated.map { $0.rawValue.count + 1 } ?? 0)))
        let digits = file.digits
        guard let hash = stated ?? BreachedHash.allCases.first(where: { $0.digits == digits }) else {
            throw .ambiguous(digits: digits)
        }
        guard digits <= hash.digits else { throw .tooManyDigits(digits, hash) }
        self.hash = hash
    }

    /// Whether the list contains a canonical password. Blocks until the disk has answered.
    func contains(_ password: borrowing Secret) throws(HashFileError) -> Bool {
        try file.contains(hash.digits(of: password))
    }
}

/// Looks passwords up in a list of breached ones, on threads of its own, because a disk may be slow.
package final class BreachedPasswords: Sendable {
    private let list: BreachedList
    private let pool: WorkPool<Int>
    private let logger: Logger
    private let lastFailure = Mutex<ContinuousClock.Instant?>(nil)

    package init(_ list: BreachedList, logger: Logger) {
        (self.list, self.logger) = (list, logger)
        pool = WorkPool(
            named: "breached",
            [0, 1],
            queue: 64,
            maximumWait: .seconds(5),
            priority: .normal,
            finished: { _ in },
            rejected: {}
        )
    }

    /// Whether the list contains a canonical password. False if the file cannot be read: then the log has an error, at
    /// most one a minute, and only the built-in list is used.
    ///
    /// Throws `rejected` as ``HashingPool/hash(_:for:)`` does.
    ///
    /// - Parameter network: the network that sent the password. Networks are served in turn.
    package func contain(_ password: SharedSecret, for network: Network) async throws(HashingError) -> Bool {
        let result: Result<Bool, HashFileError>
        do throws(WorkRejection) {
            result = try await pool.run(for: network) { [list] _ in
                do throws(HashFileError) {
                    return .success(try list.contains(password.secret))
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            throw .rejected(error)
        }
        switch result {
        case .success(let isBreached): return isBreached
        case .failure(let error):
            log(error)
            return false
        }
    }

    /// Rejects waiting passwords, and blocks until the threads have ended.
    package func shutdown() { pool.shutdown() }

    private func log(_ error: HashFileError) {
        let now = ContinuousClock.now
        let isDue = lastFailure.withLock { last in
            if let last, now - last < .seconds(60) { return false }
            last = now
            return true
        }
        if isDue {
            logger.error("breached passwords are not refused", metadata: ["reason": "\(error)"])
        }
    }
}
