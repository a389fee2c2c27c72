/// The name of a step or a field. With the type parameter, the compiler rejects a step name where a field name is
/// needed.
package struct Name<Owner>: Hashable, Sendable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let rawValue: String

    package init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    package init(stringLiteral value: String) {
        self.init(value)
    }

    package var description: String { rawValue }

    /// Compares bytes. Clients may send any name, and `String` compares some texts slowly, because it normalizes them.
    package static func == (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.elementsEqual(right.rawValue.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(Array(rawValue.utf8))
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }
}

package typealias FieldName = Name<Field>
package typealias StepName = Name<Step>
