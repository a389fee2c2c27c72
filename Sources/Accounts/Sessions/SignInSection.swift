internal import Foundation

extension Sessions {
    /// Returns the query for the part of `accounts show` that tells whether the account is disabled, how many sessions
    /// and known devices it has, and when a session was last used.
    static func accountQuery(of account: ID<Account>) -> AccountQuery {
        AccountQuery(
            select: """
                SELECT disabled_at, count(sessions), max(last_seen_at),
                       (SELECT count(*) FROM devices WHERE account = accounts.id)
                  FROM accounts LEFT JOIN sessions ON account = accounts.id AND \(ListedSession.isListed)
                 WHERE accounts.id = \(account) GROUP BY accounts.id
                """
        ) { rows throws(DatabaseError) in
            guard let row = rows.first else { return AccountSection() }
            let (disabledAt, sessions, lastSeenAt, devices) = try row.decode(
                Date?.self,
                Int.self,
                Date?.self,
                Int.self
            )
            var entries: [AccountSection.Entry] = []
            if let disabledAt { entries.append(.init(label: "disabled", text: "by an operator", time: disabledAt)) }
            if devices > 0 || sessions > 0 {
                let used = lastSeenAt == nil ? "none" : "\(sessions), last used"
                let note = "\(devices) known device\(devices == 1 ? "" : "s")"
                entries.append(.init(label: "sessions", text: used, time: lastSeenAt, note: note))
            }
            return AccountSection(
                precedesValues: true,
                entries: entries,
                members: [
                    .init("disabled_at", disabledAt.map { .string($0.timestamp) } ?? .null),
                    .init("sessions", .integer(sessions)), .init("devices", .integer(devices)),
                ]
            )
        }
    }
}
