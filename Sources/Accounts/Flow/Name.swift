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
    package static func == (left: Self, right: Self) -> Bool { left.rawValue.hasSameBytes(as: right.rawValue) }

    package func hash(into hasher: inout Hasher) {
        var name = rawValue
        name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }
}

package typealias FieldName = Name<Field>
package typealias StepName = Name<Step>

extension String {
    /// Whether both texts have the same UTF-8. `==` also holds for different texts that are canonically equivalent,
    /// such as the letter K and the sign for kelvin.
    package func hasSameBytes(as other: String) -> Bool {
        var (left, right) = (self, other)
        return left.withUTF8 { left in right.withUTF8 { left.count == $0.count && left.elementsEqual($0) } }
    }
}
