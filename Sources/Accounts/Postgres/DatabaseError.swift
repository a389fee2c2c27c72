/// Every way in which a statement can fail.
package enum DatabaseError: Error, Sendable {
    /// Nothing was executed, because there is no connection, the queue is full, or the service is stopping.
    case unavailable(String)
    /// The connection was lost after the statement was sent, so it may have taken effect. Read before you write again.
    case outcomeUnknown(String)
    /// The task of the caller was cancelled before the statement was sent.
    case cancelled
    /// The server refused the statement, and rolled the whole transaction back.
    case refused(Diagnosis)
    /// The result does not have the shape that the code expects.
    case unexpectedAnswer(String)

    package struct Diagnosis: Hashable, Sendable {
        /// Five characters (PostgreSQL documentation, appendix A).
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

    /// The SQLSTATE if the server refused the statement, otherwise nil.
    package var sqlState: String? {
        guard case .refused(let diagnosis) = self else { return nil }
        return diagnosis.sqlState
    }

    /// The violated constraint if the error is a unique violation (23505), otherwise nil.
    package var violatedUniqueConstraint: String? {
        guard case .refused(let diagnosis) = self, diagnosis.sqlState == "23505" else { return nil }
        return diagnosis.constraint
    }
}

extension DatabaseError: CustomStringConvertible, CustomDebugStringConvertible {
    /// Safe to log: contains nothing that a person typed.
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
