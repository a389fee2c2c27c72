package import Foundation

/// A row of `outbox list`: a mail without its content.
package struct OutboxRow: Sendable {
    package let id: ID<Outbox>
    package let template: String
    package let state: State
    /// The masked address; nil if the mail is delivered or dead, or cannot be decrypted.
    package let recipient: String?
    package let attempts: Int
    package let createdAt, dueAt, now: Date
    package let lastError: String?

    package enum State: String, CaseIterable, Sendable {
        case waiting, delivered, dead
    }
}

extension Operator {
    /// Returns the newest mails, newest first.
    ///
    /// - Parameter state: selects mails in this state; nil for all mails.
    package func mails(_ state: OutboxRow.State?, limit: Int) async throws(DatabaseError) -> [OutboxRow] {
        let condition: SQL = state.map { "state = \($0.rawValue)" } ?? "true"
        let rows = try await database.read(
            """
            SELECT id, template, state, sealed, attempts, created_at, due_at, now(), last_error
              FROM outbox WHERE \(condition) ORDER BY id DESC LIMIT \(limit)
            """
        )
        var mails: [OutboxRow] = []
        for row in rows {
            let (id, template, state, sealed, attempts, createdAt, dueAt, now, lastError) = try row.decode(
                ID<Outbox>.self,
                String.self,
                String.self,
                [UInt8]?.self,
                Int.self,
                Date.self,
                Date.self,
                Date.self,
                String?.self
            )
            let recipient = sealed.flatMap { signups.outbox.open($0, of: id)?.to }
            mails.append(
                OutboxRow(
                    id: id,
                    template: template,
                    state: OutboxRow.State(rawValue: state) ?? .waiting,
                    recipient: recipient.flatMap(EmailAddress.init)?.masked,
                    attempts: attempts,
                    createdAt: createdAt,
                    dueAt: dueAt,
                    now: now,
                    lastError: lastError
                )
            )
        }
        return mails
    }
}
