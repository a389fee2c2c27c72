/// A value as a draft stores it. Each kind of field has its own type.
///
/// A draft is decoded once, when it is read; all later code uses the typed value.
package protocol StoredValue: Sendable {
    /// Returns nil for JSON that `json` cannot have returned.
    init?(json: JSON)

    var json: JSON { get }
}

extension String: StoredValue {
    package init?(json: JSON) {
        guard case .string(let text) = json else { return nil }
        self = text
    }

    package var json: JSON { .string(self) }
}

extension Int: StoredValue {
    package init?(json: JSON) {
        guard case .integer(let number) = json else { return nil }
        self = number
    }

    package var json: JSON { .integer(self) }
}

/// The value of a kind that stores nothing, such as a code.
extension Never: StoredValue {
    package init?(json: JSON) { nil }

    package var json: JSON { switch self {} }
}
