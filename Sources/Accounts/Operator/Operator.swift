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

    /// Says in the audit who looked at what.
    package func note<Subject>(_ act: Act, of subject: ID<Subject>) async throws(DatabaseError) {
        _ = try await database.transaction(
            """
            INSERT INTO audit (operator, act, subject) VALUES (\(name), \(act.rawValue), \(subject))
            """
        )
    }
}

/// How a value looks to an operator, who has to know that it is there rather than what it is.
extension Field {
    package func masked(_ stored: JSON) -> String {
        switch kind {
        case is PasswordField, is TOTPField, is ImageField: "set"
        case is EmailField: EmailField.masked(stored.string ?? "")
        case is ConsentField: stored["accepted"] == true ? "accepted" : "not accepted"
        // Of a choice, or of a name of two letters, the first would tell all.
        case is ChoiceField, is DateField: "•••"
        default: stored.string.map { $0.count > 2 ? "\($0.prefix(1))•••" : "•••" } ?? "•••"
        }
    }

    /// The value itself, but for secrets.
    package func revealed(_ stored: JSON) -> String {
        switch kind {
        case is PasswordField, is TOTPField, is ConsentField, is ImageField: masked(stored)
        default: stored.plain
        }
    }
}

extension JSON {
    /// What a person typed, in words. Secrets are objects, whatever the flow file has made of their field since.
    package var plain: String {
        if case .object = self { return "•••" }
        return string ?? text
    }
}
