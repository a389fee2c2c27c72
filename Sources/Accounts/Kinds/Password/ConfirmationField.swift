/// A field in which the person types the password again. The two passwords are compared in canonical form. The answer
/// is not stored: the field is complete if the password field is complete.
package struct ConfirmationField: FieldKind {
    package typealias Value = Never
    package typealias Input = Void
    package static let name = "confirmation"
    package let confirms: FieldName

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {
        confirms = FieldName(try rules.text("confirms"))
    }

    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> Void
    {
        guard case .secret(let repeated) = answer else {
            throw Refusals(field, .wrongType, ["expected": "string"])
        }
        guard case .secret(let password)? = context.answers[confirms],
            let policy = (context.flow.field(named: confirms)?.kind as? PasswordField)?.policy
        else { throw Refusals(field, .mismatch) }
        // If the password has no canonical form, the password field refuses it, and there is nothing to compare.
        guard let first = try? policy.canonical(password, field: confirms) else { return }
        guard let second = try? policy.canonical(repeated, field: field), first.secret.equals(second.secret) else {
            throw Refusals(field, .mismatch)
        }
    }

    package func holds(_ field: FieldName, in context: ValidationContext) -> Bool {
        context.flow.field(named: confirms)?.kind.holds(confirms, in: context) ?? false
    }

    package var takesSecret: Bool { true }
    package var repeatedField: FieldName? { confirms }
    package var template: String { "field-password" }

    package func check(_ entry: YAMLEntry, at position: FieldPosition) throws(YAMLFileError) {
        guard let password = position.earlierInStep.first(where: { $0.name == confirms }),
            password.kind is PasswordField
        else {
            throw entry.error(
                "\"confirms\" must name an earlier field of kind \"password\" in the same step",
                at: "confirms"
            )
        }
        if entry.isRequired, !password.isRequired {
            throw entry.error("\"\(confirms)\" is optional, so its confirmation must be optional too", at: "confirms")
        }
    }

    package func rules(in language: Language) -> [JSON.Member] { [.init("confirms", .string(confirms.rawValue))] }

    package var control: Control { Control(type: "password", autocomplete: "new-password") }
    package var answerSchema: JSON { ["type": "string", "format": "password", "writeOnly": true] }
}

extension Secret {
    /// Compares in a time that depends only on the lengths.
    borrowing func equals(_ other: borrowing Secret) -> Bool {
        withBytes { left in
            other.withBytes { right in
                left.equalsInConstantTime(right)
            }
        }
    }
}
