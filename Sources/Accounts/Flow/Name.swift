/// The name of a step or a field, so that one never stands where the other is asked for.
package struct Name<Owner>: Hashable, Sendable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let rawValue: String

    package init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    package init(stringLiteral value: String) {
        self.init(value)
    }

    package var description: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool {
        left.rawValue < right.rawValue
    }
}

package typealias FieldName = Name<Field>
package typealias StepName = Name<Step>
