package import Foundation

package enum AccountState: String, CaseIterable, Sendable {
    case enabled
    /// An operator has disabled the account, so its person cannot sign in.
    case disabled
}

/// Selects accounts. A property that is nil does not restrict the selection.
package struct AccountFilter: Sendable {
    package var state: AccountState?
    /// The maximum age of an account.
    package var since: Duration?
    /// Addresses and usernames: selects accounts that have all of them. An empty list does not restrict the selection.
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
    /// The latest recorded use of a stored session of the account, even of an expired session; nil if no session is
    /// stored. The use of a session is recorded at most once a minute.
    package let lastUsedAt: Date?
}

extension Operator {
    /// Returns one page of the accounts that match the filter, newest first. A search by an address or a username
    /// writes audit records.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of accounts on the page.
    ///   - cursor: the last account of the previous page; nil for the first page.
    package func accounts(
        _ filter: AccountFilter,
        limit: Int,
        after cursor: ID<Account>? = nil
    ) async throws(DatabaseError) -> ListPage<AccountSummary> {
        let condition = filter.condition
        let columns: SQL = """
            id, created_at, disabled_at IS NOT NULL, email, username,
            EXISTS (SELECT FROM credentials WHERE account = accounts.id AND kind = 'password'),
            EXISTS (SELECT FROM authenticators WHERE account = accounts.id),
            (SELECT max(last_seen_at) FROM sessions WHERE account = accounts.id)
            """
        let select = ListPage<AccountSummary>.select(
            columns,
            from: "accounts WHERE \(condition)",
            after: cursor.map { "id < \($0)" },
            by: "id DESC",
            limit: limit
        )
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
    /// Returns nil for the row that stands for an empty page.
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
