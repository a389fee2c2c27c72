import Accounts

/// The text of an argument that names a draft or an account: its id, the first digits of its id, its address or its
/// username.
struct IDOrName<Item>: Sendable {
    let text: String
    let id: ID<Item>?
    private let prefix: IDPrefix<Item>?

    init(_ text: String) {
        (self.text, id, prefix) = (text, ID(text), IDPrefix(text))
    }

    /// Whether ``find(by:_:matching:named:)`` always writes an audit record, because the text can only be an address or
    /// a username. If the text may be the first digits of an id, the search writes a record only if no id begins with
    /// them.
    var isSearch: Bool { id == nil && prefix == nil }

    /// Returns the id that the text names. If the text is a complete id, returns it without a search. Throws
    /// ``Refused`` if several ids begin with the digits.
    ///
    /// - Parameters:
    ///   - items: the plural noun for the error message, such as "drafts".
    ///   - idsBeginning: returns the number of ids that begin with the digits, and one of these ids.
    ///   - search: returns the id of the item with an address or a username, and writes an audit record.
    func find(
        by admin: Operator,
        _ items: String,
        matching idsBeginning: (IDPrefix<Item>) async throws -> (count: Int, first: ID<Item>?),
        named search: (SignInIdentifier) async throws -> ID<Item>
    ) async throws -> ID<Item> {
        if let id { return id }
        if let prefix {
            let (count, first) = try await idsBeginning(prefix)
            if count > 1 { throw Refused.ambiguous(text, count, items) }
            if let first { return first }
        }
        // Digits with which no id begins may be a username.
        try admin.checkName()
        return try await search(SignInIdentifier(text.contains("@") ? try emailAddress(text).rawValue : text))
    }
}
