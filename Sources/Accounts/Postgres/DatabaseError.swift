/// Every way a statement can end badly.
package enum DatabaseError: Error, Sendable {
    /// Nothing was executed: no connection, a full queue, or the service is stopping.
    case unavailable(String)
    /// The connection was lost while the statement was on its way: it took effect or it did not. Read before you
    /// write again.
    case outcomeUnknown(String)
    /// The caller went away before the statement was sent.
    case cancelled
    /// The server refused, and everything in the same transaction is undone.
    case refused(Diagnosis)
    /// The answer has another shape than the code that reads it.
    case unexpectedAnswer(String)

    package struct Diagnosis: Hashable, Sendable {
        /// Five characters, PostgreSQL documentation appendix A.
        package let sqlState: String
        package let constraint: String?
        /// May quote what a person typed.
        fileprivate let message: String

        init(sqlState: String, constraint: String?, message: String) {
            self.sqlState = sqlState
            self.constraint = constraint
            self.message = message
        }
    }

    /// The server's code, where the server refused.
    package var sqlState: String? {
        guard case .refused(let diagnosis) = self else { return nil }
        return diagnosis.sqlState
    }

    /// The constraint that a unique violation (23505) names.
    package var violatedUniqueConstraint: String? {
        guard case .refused(let diagnosis) = self, diagnosis.sqlState == "23505" else { return nil }
        return diagnosis.constraint
    }
}

extension DatabaseError: CustomStringConvertible, CustomDebugStringConvertible {
    /// Safe to log: nothing that a person typed.
    package var description: String {
        switch self {
        case .unavailable(let reason): "database unavailable: \(reason)"
        case .outcomeUnknown(let reason): "database connection lost, outcome unknown: \(reason)"
        case .cancelled: "cancelled before the statement was sent"
        case .refused(let diagnosis):
            "database refused: \(diagnosis.sqlState)" + (diagnosis.constraint.map { " (\($0))" } ?? "")
        case .unexpectedAnswer(let what): "unexpected answer from the database: \(what)"
        }
    }

    package var debugDescription: String {
        guard case .refused(let diagnosis) = self else { return description }
        return "\(description): \(diagnosis.message)"
    }
}
