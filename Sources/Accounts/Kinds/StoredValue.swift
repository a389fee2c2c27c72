/// A value of a field as a draft stores it. Each kind of field states the type of its values (``FieldActs/Value``).
///
/// The values of a draft are decoded once, when the draft is read; later code uses the typed values.
package protocol StoredValue: Sendable {
    /// Reads the result of ``json``. Returns nil if the JSON is not a value of this type.
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
