package import Foundation

/// An event about an account, such as a change or a sign-in, that applications can receive. The transaction that causes
/// the event also writes it.
package struct AccountEvent: Sendable {
    package let id: ID<AccountEvent>
    /// One of ``Webhook/eventTypes``.
    package let type: String
    /// The number of the event among all that were written about the account, from 1.
    package let sequence: Int
    package let createdAt: Date
    package let account: ID<Account>

    /// - Parameter columns: id, type, sequence, time and account.
    init(_ columns: inout Columns) throws(DatabaseError) {
        id = try columns.next()
        type = try columns.next()
        sequence = try columns.next()
        createdAt = try columns.next()
        account = try columns.next()
    }

    /// The JSON members of the event in a webhook and in a list of events. If they would exceed 20 kB, the account
    /// has only its id, and no claims.
    ///
    /// - Parameter account: the account as it is now; nil if it was erased.
    package func members(about account: Account?, for subscriber: EventSubscriber) -> [JSON.Member] {
        let id = JSON.Member("id", .string(self.account.description))
        let all = members([id] + (account.map(subscriber.claims) ?? []))
        // Standard Webhooks recommends at most 20 kB.
        return JSON.object(all).bytes.count <= 20_000 ? all : members([id])
    }

    private func members(_ account: [JSON.Member]) -> [JSON.Member] {
        [
            .init("type", .string(type)), .init("timestamp", .string(createdAt.timestamp)),
            .init("sequence", .integer(sequence)), .init("data", ["account": .object(account)]),
        ]
    }
}

extension Database {
    /// Reads the accounts that the events are about. The result has no entry for an erased account.
    func accounts(of events: [AccountEvent]) async throws(DatabaseError) -> [ID<Account>: Account] {
        if events.isEmpty { return [:] }
        let ids = JSON.array(Set(events.map(\.account)).map { .string($0.description) })
        let rows = try await read(
            """
            SELECT id, \(Account.columns) FROM accounts
             WHERE id = ANY (ARRAY(SELECT jsonb_array_elements_text(\(ids.text)::jsonb)::uuid))
            """
        )
        var accounts: [ID<Account>: Account] = [:]
        for row in rows {
            var columns = row.columns
            let account = try Account(&columns)
            accounts[account.id] = account
        }
        return accounts
    }
}
