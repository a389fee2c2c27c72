internal import Foundation

/// Everything that whoever runs the service can see and do. Each act is a file beside this one; what changes something, or
/// shows what is not everybody's to see, leaves a row in `audit`.
package struct Operator: Sendable {
    let signups: Signups
    /// As the audit names them.
    package let name: String

    var database: Database { signups.database }

    package init(_ signups: Signups, name: String) {
        self.signups = signups
        self.name = name
    }

    package enum Act: String, Sendable {
        case revealDraft = "reveal draft"
        case revealAccount = "reveal account"
        case rotateKeys = "rotate keys"
        case expire, purge, extend, retry, flush
    }

    /// Part of a statement: a row of the audit for each row of the table.
    func audited(_ act: Act, over table: SQL, of subject: SQL = "NULL::uuid") -> SQL {
        """
        audited AS (
            INSERT INTO audit (operator, act, subject) SELECT \(name), \(act.rawValue), \(subject) FROM \(table)
        )
        """
    }

    /// A statement that leaves a row in the audit for each draft that has just ended.
    func auditEnded(_ act: Act) -> SQL {
        """
        INSERT INTO audit (operator, act, subject)
        SELECT \(name), \(act.rawValue), id FROM unnest(\(Signups.ended)) AS id
        """
    }

    /// Says in the audit who looked at what.
    package func note<Subject>(_ act: Act, of subject: ID<Subject>) async throws(DatabaseError) {
        _ = try await database.transaction(
            """
            INSERT INTO audit (operator, act, subject) VALUES (\(name), \(act.rawValue), \(subject))
            """
        )
    }
}
