internal import Foundation

extension AddressChange {
    /// Returns the query for the part of `accounts show` that lists the changes of the address that can still be
    /// undone.
    static func accountQuery(of account: ID<Account>) -> AccountQuery {
        AccountQuery(
            select: """
                SELECT changed_at, expires_at FROM address_changes WHERE account = \(account) AND now() < expires_at
                 ORDER BY changed_at
                """
        ) { rows throws(DatabaseError) in
            var section = AccountSection(precedesValues: true)
            var changes: [JSON] = []
            for row in rows {
                let (changedAt, expiresAt) = try row.decode(Date.self, Date.self)
                section.entries.append(
                    .init(
                        label: "address",
                        text: "changed",
                        time: changedAt,
                        note: "can be undone from the old address"
                    )
                )
                changes.append([
                    "at": .string(changedAt.timestamp), "restorable_until": .string(expiresAt.timestamp),
                ])
            }
            section.members = [.init("address_changes", .array(changes))]
            return section
        }
    }
}
