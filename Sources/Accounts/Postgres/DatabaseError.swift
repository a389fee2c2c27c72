/// Every way in which a statement can fail.
package enum DatabaseError: Error, Sendable {
    /// Nothing took effect, because there is no connection that can write, the queue is full, the service is stopping,
    /// the deadline passed while the statement waited to be sent, or too many of the statements that shared the
    /// transaction have waited too long for locks. Some acts throw this themselves, for example if they have tried too
    /// often, or if the deadline is too near.
    case unavailable(String)
    /// The connection was lost, or the deadline passed, while or after the statement was sent. So the statement may
    /// have taken effect: read before you write again.
    case outcomeUnknown(String)
    /// The task of the caller was cancelled before the statement was sent.
    case cancelled
    /// PostgreSQL refused the statement, and rolled the whole transaction back.
    case refused(Diagnosis)
    /// The result does not have the shape that the code expects.
    case unexpectedAnswer(String)

    package struct Diagnosis: Hashable, Sendable {
        /// The SQLSTATE, a code of five characters (PostgreSQL documentation, appendix A).
        package let sqlState: String
        /// The name of the violated constraint; nil if there is none.
        package let constraint: String?
        /// The message of PostgreSQL, which may quote what a person typed.
        fileprivate let message: String
        /// The detail that PostgreSQL adds to the message, which may quote what a person typed; nil if there is none.
        private let detail: String?
        /// The place of the error in the text of the statement, in characters from 1; nil if unknown.
        private let position: Int?

        init(
            sqlState: String,
            constraint: String?,
            message: String,
            detail: String? = nil,
            position: Int? = nil
        ) {
            self.sqlState = sqlState
            self.constraint = constraint
            self.message = message
            self.detail = detail
            self.position = position
        }

        /// Describes the error of a script that is part of this program: the SQLSTATE, the message and the detail of
        /// PostgreSQL, and the line of the script; no line if `script` is empty. The script contains nothing that a
        /// person typed, but the rows of the tables do. So this text leaves out the message and the detail about
        /// invalid data (class 22), such as a value that cannot be converted, and the detail about a row that violates
        /// a constraint (class 23).
        func explanation(of script: String) -> String {
            let quotesValues = sqlState.hasPrefix("22")
            let quotesRows = quotesValues || sqlState.hasPrefix("23")
            let line =
                script.isEmpty
                ? nil : position.map { position in "line \(script.prefix(position - 1).count { $0.isNewline } + 1)" }
            let parts = [quotesValues ? nil : message, quotesRows ? nil : detail, line].compactMap { $0 }
            return ([sqlState] + parts).joined(separator: ": ")
        }
    }

    /// True if PostgreSQL refused the statement but may accept it later: PostgreSQL lacks a resource, such as space on
    /// the disk (class 53), cannot read or write a file (58030), has ended the statement or its wait for a lock (57014,
    /// 55P03), or had to end one of several transactions (40001, 40P01). False for `unavailable`.
    package var isTemporary: Bool {
        guard let sqlState else { return false }
        return sqlState.hasPrefix("53") || ["58030", "57014", "55P03", "40001", "40P01"].contains(sqlState)
    }

    /// The SQLSTATE if PostgreSQL refused the statement, otherwise nil.
    package var sqlState: String? {
        guard case .refused(let diagnosis) = self else { return nil }
        return diagnosis.sqlState
    }
}

extension DatabaseError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The error as text that may be logged, because it contains nothing that a person typed.
    package var description: String {
        switch self {
        case .unavailable(let reason): "database unavailable: \(reason)"
        case .outcomeUnknown(let reason): "database gave no answer, outcome unknown: \(reason)"
        case .cancelled: "cancelled before the statement was sent"
        case .refused(let diagnosis):
            "database refused: \(diagnosis.sqlState)" + (diagnosis.constraint.map { " (\($0))" } ?? "")
                + (Self.meanings[diagnosis.sqlState].map { ", \($0)" } ?? "")
        case .unexpectedAnswer(let what): "unexpected answer from the database: \(what)"
        }
    }

    /// The causes of the errors that an operator can repair, by SQLSTATE.
    private static let meanings = [
        "53100": "its disk is full", "53200": "it is out of memory", "53300": "it has too many connections",
        "58030": "it cannot read or write a file",
    ]

    /// The error with the message of PostgreSQL, which may quote what a person typed. So this text must not be logged.
    package var debugDescription: String {
        guard case .refused(let diagnosis) = self else { return description }
        return "\(description): \(diagnosis.message)"
    }
}
