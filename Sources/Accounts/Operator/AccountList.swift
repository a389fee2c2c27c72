package import Foundation

package enum AccountState: String, CaseIterable, Sendable {
    case enabled
    /// An operator keeps the person from signing in.
    case disabled
}

/// Selects accounts. A property that is nil does not restrict the selection.
package struct AccountFilter: Sendable {
    package var state: AccountState?
    /// Selects accounts that were created no longer ago than this.
    package var since: Duration?
    /// The address and the username, of which the account must have all.
    package var identifiers: [SignInIdentifier]

    package init(state: AccountState? = nil, since: Duration? = nil, identifiers: [SignInIdentifier] = []) {
        (self.state, self.since, self.identifiers) = (state, since, identifiers)
    }

    /// A condition on the columns of `accounts`.
    fileprivate var condition: SQL {
        var all: SQL = "true"
        if let state { all = "\(all) AND (disabled_at IS NULL) = \(state == .enabled)" }
        if let since { all = "\(all) AND created_at >= now() - make_interval(secs => \(since.seconds))" }
        for identifier in identifiers {
            all = """
                \(all) AND accounts.id IN (SELECT account FROM identifiers WHERE kind = \(identifier.kind)
                                              AND value = \(identifier.value) AND reserved_until IS NULL)
                """
        }
        return all
    }
}

/// An account in a list.
package struct AccountSummary: Sendable {
    package let id: ID<Account>
    package let createdAt: Date
    package let state: AccountState
    /// The masked address and username; nil if the account has none.
    package let address, username: String?
    package let hasPassword, hasAuthenticator: Bool
    /// When a session of the account was used last; nil without sessions.
    package let lastUsedAt: Date?
}

extension Operator {
    /// Returns the newest accounts that match the filter and are older than `cursor`, newest first. A search for an
    /// address or a username writes audit records.
    package func accounts(
        _ filter: AccountFilter,
        limit: Int,
        after cursor: ID<Account>? = nil
    ) async throws(DatabaseError) -> ListPage<AccountSummary> {
        let condition = filter.condition
        let rest: SQL = cursor.map { "\(condition) AND id < \($0)" } ?? condition
        // One statement, so that the page and the number of accounts belong to the same moment.
        let select: SQL = """
            SELECT now(), total, page.*
              FROM (SELECT count(*) AS total FROM accounts WHERE \(condition)) AS counted LEFT JOIN (
                SELECT id, created_at, disabled_at IS NOT NULL, email, username,
                       EXISTS (SELECT FROM credentials WHERE account = accounts.id AND kind = 'password'),
                       EXISTS (SELECT FROM authenticators WHERE account = accounts.id),
                       (SELECT max(last_seen_at) FROM sessions WHERE account = accounts.id)
                  FROM accounts WHERE \(rest) ORDER BY id DESC LIMIT \(limit + 1)
              ) AS page ON true ORDER BY id DESC
            """
        let rows: Rows
        if filter.identifiers.isEmpty {
            rows = try await database.read(select)
        } else {
            let found: SQL = "found AS (SELECT id FROM accounts WHERE \(condition))"
            let audit: SQL = "WITH \(found), \(auditedSearch(.findAccount, in: "found", of: "id")) SELECT 1"
            rows = try await database.transaction(audit, select)[1]
        }
        return try ListPage(rows, limit: limit, cursor: { "\($0.id)" }) { columns throws(DatabaseError) in
            try AccountSummary(&columns)
        }
    }
}

extension AccountSummary {
    /// Nil for the row of an empty page.
    fileprivate init?(_ columns: inout Columns) throws(DatabaseError) {
        guard let id = try columns.next(ID<Account>?.self) else { return nil }
        self.id = id
        createdAt = try columns.next()
        state = try columns.next(Bool.self) ? .disabled : .enabled
        address = try columns.next(String?.self).map { EmailAddress($0)?.masked ?? "•••" }
        username = try columns.next(String?.self).map { "\($0.prefix(1))•••" }
        hasPassword = try columns.next()
        hasAuthenticator = try columns.next()
        lastUsedAt = try columns.next()
    }
}
