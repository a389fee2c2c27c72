internal import Foundation

/// An operator, who works with the commands of `accounts-api`. Extensions, most of them in this folder, add the queries
/// and acts. An act that changes data, reveals values, or searches for an address or a username writes audit records to
/// the table `audit`.
package struct Operator: Sendable {
    let signups: Signups
    /// The name of the operator in audit records.
    package let name: String
    /// The name of the machine on which the command runs, in audit records; nil if the machine has no name.
    let host: String?
    /// The reason for the acts of the operator, in audit records; nil if the operator gave none.
    let reason: String?

    var database: Database { signups.database }

    /// Whether the operator can decrypt anything, and search for addresses and usernames of drafts.
    package var hasKeys: Bool { !signups.keys.isEmpty }

    package init(_ signups: Signups, name: String, host: String? = nil, reason: String? = nil) {
        self.signups = signups
        self.name = name
        self.host = host
        self.reason = reason
    }

    package enum Act: String, CaseIterable, Sendable {
        case revealDraft = "reveal draft"
        case revealAccount = "reveal account"
        case revealMail = "reveal mail"
        case findDrafts = "find drafts"
        case findAccount = "find account"
        case findMail = "find mail"
        case disableAccount = "disable account"
        case enableAccount = "enable account"
        case eraseAccount = "erase account"
        case exportAccount = "export account"
        /// The SQL function `remove_authenticator` writes this audit record.
        case removeAuthenticator = "remove authenticator"
        /// The SQL function `import_accounts` writes this audit record.
        case importAccount = "import account"
        case endSessions = "end sessions"
        case rotateKeys = "rotate keys"
        case rotateSigningKeys = "rotate signing keys"
        case revokeSigningKeys = "revoke signing keys"
        case retryEvents = "retry events"
        case replayEvents = "replay events"
        /// Acts on drafts.
        case expire, purge, extend
        /// Acts on mails.
        case retry, flush
    }

    /// The values of the columns `operator, host, reason` of an audit record.
    var author: SQL { "\(name), \(host), \(reason)" }

    /// A common table expression (CTE) that writes one audit record for each row of a table.
    ///
    /// - Parameter subject: an expression for the id of the draft, account, mail or event that the record is about.
    func audited(_ act: Act, over table: SQL, of subject: SQL = "NULL::uuid") -> SQL {
        """
        audited AS (
            INSERT INTO audit (operator, host, reason, act, subject)
            SELECT \(author), \(act.rawValue), \(subject) FROM \(table)
        )
        """
    }

    /// A CTE that writes one audit record for each row that a search has found. If it has found none, the CTE writes
    /// one record without a subject, because the operator then knows that the address or username is not in use.
    func auditedSearch(_ act: Act, in found: SQL, of subject: SQL) -> SQL {
        """
        audited AS (
            INSERT INTO audit (operator, host, reason, act, subject)
            SELECT \(author), \(act.rawValue), \(subject) FROM \(found)
            UNION ALL SELECT \(author), \(act.rawValue), NULL WHERE NOT EXISTS (SELECT FROM \(found))
        )
        """
    }

    /// A statement that writes an audit record for each draft that the transaction has ended.
    func auditEnded(_ act: Act) -> SQL {
        """
        INSERT INTO audit (operator, host, reason, act, subject)
        SELECT \(author), \(act.rawValue), id FROM unnest(\(Signups.ended)) AS id
        """
    }

    /// Writes an audit record.
    package func note<Subject>(_ act: Act, of subject: ID<Subject>) async throws(DatabaseError) {
        _ = try await database.transaction(
            """
            INSERT INTO audit (operator, host, reason, act, subject) VALUES (\(author), \(act.rawValue), \(subject))
            """
        )
    }
}
