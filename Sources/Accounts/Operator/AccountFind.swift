internal import Foundation

/// The first digits of an id. Several ids may begin with them.
package struct IDPrefix<Owner>: Sendable {
    /// The lowest and the highest id that begin with the digits.
    let first, last: ID<Owner>

    /// Reads 6 to 32 hexadecimal digits, either without dashes or with the dashes of an id. Returns nil for any other
    /// text.
    package init?(_ text: String) {
        let text = text.lowercased()
        let digits = text.filter { $0 != "-" }
        guard (6...32).contains(digits.utf8.count), digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
            let first = Self.id(digits, filledWith: "0"), let last = Self.id(digits, filledWith: "f"),
            text == digits || first.description.hasPrefix(text)
        else { return nil }
        (self.first, self.last) = (first, last)
    }

    private static func id(_ digits: String, filledWith digit: Character) -> ID<Owner>? {
        var text = digits + String(repeating: digit, count: 32 - digits.utf8.count)
        for position in [20, 16, 12, 8] { text.insert("-", at: text.index(text.startIndex, offsetBy: position)) }
        return ID(text)
    }
}

extension Operator {
    /// Returns the number of accounts whose ids begin with the digits, and the id of one of these accounts. The id is
    /// nil if there is no such account.
    package func idsBeginning(
        with prefix: IDPrefix<Account>
    ) async throws(DatabaseError) -> (count: Int, first: ID<Account>?) {
        try await ids(prefix, in: "accounts")
    }

    /// Returns the number of rows whose ids begin with the digits, and the id of one of these rows. The id is nil if
    /// there is no such row.
    func ids<Owner>(
        _ prefix: IDPrefix<Owner>,
        in table: SQL
    ) async throws(DatabaseError) -> (count: Int, first: ID<Owner>?) {
        let row = try await database.read(
            "SELECT count(*) OVER (), id FROM \(table) WHERE id BETWEEN \(prefix.first) AND \(prefix.last) LIMIT 1"
        ).first
        guard let row else { return (0, nil) }
        return try row.decode(Int.self, ID<Owner>?.self)
    }

    /// Returns the id of the account that a sign-in with the address or the username finds, or nil if there is none.
    /// Writes an audit record.
    package func account(_ identifier: SignInIdentifier) async throws(DatabaseError) -> ID<Account>? {
        try await database.transaction(
            """
            WITH found AS (SELECT account FROM identifiers
                            WHERE kind = \(identifier.kind) AND value = \(identifier.value) AND reserved_until IS NULL),
                 \(auditedSearch(.findAccount, in: "found", of: "account"))
            SELECT account FROM found
            """
        )[0].first?.decode(ID<Account>.self)
    }
}
