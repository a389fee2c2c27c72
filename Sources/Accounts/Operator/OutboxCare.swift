package import Foundation

/// A mail as an operator sees it.
package struct OutboxRow: Sendable {
    package let id: ID<Outbox>
    package let template: String
    package let state: State
    /// Masked; nil once it is finished.
    package let recipient: String?
    package let attempts: Int
    package let createdAt, dueAt, now: Date
    package let lastError: String?

    package enum State: String, CaseIterable, Sendable {
        case waiting, delivered, dead
    }
}

extension Operator {
    /// The newest mails, newest first.
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
                    recipient: recipient.map(EmailField.masked),
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

    /// Makes one mail due at once, with all its attempts before it; false where none waits under that id. Those that are
    /// finished keep nothing that could be sent. One that is on its way at this moment may come twice.
    package func retry(_ id: ID<Outbox>) async throws(DatabaseError) -> Bool {
        try await database.transaction(
            """
            WITH due AS (
                UPDATE outbox SET due_at = now(), attempts = 0 WHERE id = \(id) AND state = 'waiting' RETURNING id
            ), \(audited(.retry, over: "due", of: "id"))
            SELECT EXISTS (SELECT FROM due)
            """
        )[0].only.decode(Bool.self)
    }

    /// Makes all mail due at once that failed and waits for its next attempt, with all its attempts before it, and returns
    /// how many there are.
    package func flush() async throws(DatabaseError) -> Int {
        try await database.transaction(
            """
            WITH due AS (
                UPDATE outbox SET due_at = now(), attempts = 0
                 WHERE state = 'waiting' AND due_at > now() AND last_error IS NOT NULL RETURNING id
            ), \(audited(.flush, over: "(SELECT FROM due LIMIT 1) AS one"))
            SELECT count(*) FROM due
            """
        )[0].only.decode(Int.self)
    }
}
