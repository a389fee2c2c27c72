internal import Foundation

/// The queries and actions of an operator. Each one is a file in this folder. Actions that change data, reveal values
/// or search for an address write a row to `audit`.
package struct Operator: Sendable {
    let signups: Signups
    /// The name in audit records.
    package let name: String

    var database: Database { signups.database }

    package init(_ signups: Signups, name: String) {
        self.signups = signups
        self.name = name
    }

    package enum Act: String, CaseIterable, Sendable {
        case revealDraft = "reveal draft"
        case revealAccount = "reveal account"
        case findDrafts = "find drafts"
        case findAccount = "find account"
        case disableAccount = "disable account"
        case enableAccount = "enable account"
        case eraseAccount = "erase account"
        case exportAccount = "export account"
        /// Written by the function `remove_authenticator`.
        case removeAuthenticator = "remove authenticator"
        /// Written by the function `import_accounts`.
        case importAccount = "import account"
        case endSessions = "end sessions"
        case rotateKeys = "rotate keys"
        case rotateSigningKeys = "rotate signing keys"
        case retryEvents = "retry events"
        case replayEvents = "replay events"
        case expire, purge, extend, retry, flush
    }

    /// A CTE that writes one audit record for each row of the table.
    func audited(_ act: Act, over table: SQL, of subject: SQL = "NULL::uuid") -> SQL {
        """
        audited AS (
            INSERT INTO audit (operator, act, subject) SELECT \(name), \(act.rawValue), \(subject) FROM \(table)
        )
        """
    }

    /// A CTE that writes one audit record for each row that a search has found, or one without a subject if it has
    /// found none: that too says something about an address.
    func auditedSearch(_ act: Act, in found: SQL, of subject: SQL) -> SQL {
        """
        audited AS (
            INSERT INTO audit (operator, act, subject)
            SELECT \(name), \(act.rawValue), \(subject) FROM \(found)
            UNION ALL SELECT \(name), \(act.rawValue), NULL WHERE NOT EXISTS (SELECT FROM \(found))
        )
        """
    }

    /// A statement that writes an audit record for each draft that has just ended.
    func auditEnded(_ act: Act) -> SQL {
        """
        INSERT INTO audit (operator, act, subject)
        SELECT \(name), \(act.rawValue), id FROM unnest(\(Signups.ended)) AS id
        """
    }

    /// Writes an audit record.
    package func note<Subject>(_ act: Act, of subject: ID<Subject>) async throws(DatabaseError) {
        _ = try await database.transaction(
            """
            INSERT INTO audit (operator, act, subject) VALUES (\(name), \(act.rawValue), \(subject))
            """
        )
    }
}
