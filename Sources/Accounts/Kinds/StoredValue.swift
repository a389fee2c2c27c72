/// A value as a draft keeps it: a type of its own for each kind of field.
///
/// A draft is decoded once, when it is read; everything after that uses the value itself.
package protocol StoredValue: Sendable {
    /// Nil for JSON that `json` cannot have made.
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

/// The value of a kind that keeps none, such as a code.
extension Never: StoredValue {
    package init?(json: JSON) { nil }

    package var json: JSON { switch self {} }
}
