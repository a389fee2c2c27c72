internal import Foundation

/// Creates accounts from the lines of a file.
///
/// A line that was imported before has no effect, so an import that was interrupted can be run again.
package struct AccountImport: Sendable {
    /// The result of the import of one line.
    package enum Outcome: Sendable, Equatable {
        case imported
        /// The account exists already, or an earlier line of the same call is about the same account.
        case present
        /// The reasons why the line is invalid, or why its account cannot be created. They contain no values of the
        /// line.
        case refused([String])
    }

    private let admin: Operator
    private let isTrial: Bool

    /// - Parameters:
    ///   - admin: the operator who imports.
    ///   - isTrial: whether lines are only checked: nothing is written, and no password is hashed.
    package init(by admin: Operator, isTrial: Bool) {
        (self.admin, self.isTrial) = (admin, isTrial)
    }

    /// Returns why the keys of this command do not fit the database; nil if they fit. With the wrong keys, no server
    /// could check the imported passwords.
    package func keyMismatch() async throws(DatabaseError) -> KeyMismatch? {
        try await admin.signups.keys.mismatch(withServersOf: admin.database)
    }

    /// Imports the lines in one transaction, and writes an audit record for each new account. In a trial, only checks
    /// the lines.
    ///
    /// - Returns: an outcome for each line, in the order of the lines.
    package func run(_ lines: [[UInt8]]) async throws(ImportError) -> [Outcome] {
        var outcomes: [Outcome] = []
        var accounts: [(line: Int, account: ImportedAccount)] = []
        var repetitions: [(line: Int, firstLine: Int)] = []
        var firstLines: [ID<Account>: Int] = [:]
        let now = try await converting(to: ImportError.database) { () throws(DatabaseError) in
            try await admin.database.read("SELECT now()").only.decode(Date.self)
        }
        for line in lines {
            do throws(ImportRefusals) {
                let account = try ImportedAccount(line, in: admin.flow, at: now)
                if let firstLine = firstLines[account.id] {
                    repetitions.append((outcomes.count, firstLine))
                } else {
                    firstLines[account.id] = outcomes.count
                    accounts.append((outcomes.count, account))
                }
                outcomes.append(.imported)
            } catch {
                outcomes.append(.refused(error.reasons))
            }
        }
        let found = try await look(up: accounts.map(\.account))
        for (line, account) in accounts { outcomes[line] = found[account.id] ?? .imported }
        let new = accounts.filter { found[$0.account.id] == nil }
        if !isTrial, !new.isEmpty {
            let made = try await create(try await hashed(new.map(\.account)))
            for (line, account) in new { outcomes[line] = made[account.id] ?? .imported }
        }
        for (line, firstLine) in repetitions {
            outcomes[line] = outcomes[firstLine] == .imported ? .present : outcomes[firstLine]
        }
        return outcomes
    }

    /// Returns the outcomes of the accounts that exist already or whose identifiers are taken, so that their passwords
    /// are not hashed. Other accounts have no entry.
    private func look(up accounts: [ImportedAccount]) async throws(ImportError) -> [ID<Account>: Outcome] {
        let entries = JSON.array(accounts.map { $0.entry(nil) })
        return try await outcomes(
            """
            SELECT entry.id, CASE WHEN accounts.id IS NOT NULL THEN 'present' ELSE taken.kind END
              FROM jsonb_to_recordset(\(entries.text)::jsonb) AS entry (id uuid, email text, username text)
              LEFT JOIN accounts ON accounts.id = entry.id
              LEFT JOIN LATERAL (
                  SELECT min(kind) AS kind FROM identifiers
                   WHERE (kind, value) IN (('email', entry.email), ('username', entry.username))) AS taken ON true
             WHERE accounts.id IS NOT NULL OR taken.kind IS NOT NULL
            """
        )
    }

    /// Returns the entries for ``create(_:)`` in the order of the accounts. Hashes the imported hashes with Argon2id,
    /// on all workers of the hashing pool at the same time.
    private func hashed(_ accounts: [ImportedAccount]) async throws(ImportError) -> [JSON] {
        let signups = admin.signups
        do {
            let entries = try await withThrowingTaskGroup { group in
                for (index, account) in accounts.enumerated() {
                    group.addTask {
                        guard let hash = account.passwordHash else { return (index, account.entry(nil)) }
                        let stored = try await signups.hashing.wrap(hash, pepper: signups.keys.pepper)
                        return (index, account.entry(stored))
                    }
                }
                return try await group.reduce(into: [Int: JSON]()) { $0[$1.0] = $1.1 }
            }
            return accounts.indices.compactMap { entries[$0] }
        } catch {
            throw .hashing(error)
        }
    }

    private func create(_ entries: [JSON]) async throws(ImportError) -> [ID<Account>: Outcome] {
        try await outcomes(
            """
            SELECT id, outcome FROM import_accounts(\(JSON.array(entries).text)::jsonb, \(admin.author))
             WHERE outcome <> 'imported'
            """
        )
    }

    private func outcomes(_ statement: SQL) async throws(ImportError) -> [ID<Account>: Outcome] {
        try await converting(to: ImportError.database) { () throws(DatabaseError) in
            var outcomes: [ID<Account>: Outcome] = [:]
            for row in try await admin.database.transaction(statement)[0] {
                let (id, outcome) = try row.decode(ID<Account>.self, String.self)
                outcomes[id] = outcome == "present" ? .present : .refused(["\(outcome): taken"])
            }
            return outcomes
        }
    }
}

package enum ImportError: Error, Sendable, CustomStringConvertible {
    case database(DatabaseError)
    case hashing(any Error)

    package var description: String {
        switch self {
        case .database(let error): "\(error)"
        case .hashing(let error): "cannot hash a password: \(error)"
        }
    }
}
