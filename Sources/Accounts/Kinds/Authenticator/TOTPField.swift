/// A field that sets up an authenticator app (RFC 6238). Its step shows a secret, the person adds the secret to the app
/// and submits a code of the app. The draft then stores the secret, and no page shows it again.
package struct TOTPField: FieldKind {
    package typealias Value = Authenticator
    package typealias Input = String
    package static let name = "totp"

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {}

    /// Checks only the format. ``submit(_:_:)`` counts an attempt and compares the code.
    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> String
    {
        try answer.digits(TOTP.digits, of: field)
    }

    package func isValid(_ value: Authenticator, of field: FieldName, in context: ValidationContext) -> Bool { true }

    package func shown(_ value: Authenticator, at place: DisplayContext) -> JSON { .isSet }
    package func shownSchema(at place: DisplayContext) -> JSON { .isSetSchema }

    package func rules(in language: Language) -> [JSON.Member] {
        [.init("digits", .integer(TOTP.digits)), .init("period", .integer(TOTP.period))]
    }

    package var takesGuess: Bool { true }

    package var control: Control { .oneTimeCode }
    package var answerSchema: JSON { .digitsSchema(TOTP.digits) }
}

extension [Step] {
    /// Whether these steps require an authenticator app of every person.
    var requireAuthenticator: Bool {
        contains { step in !step.isOptional && step.fields.contains { $0.isRequired && $0.kind is TOTPField } }
    }
}

extension Flow {
    /// Whether the flow requires an authenticator app of every person.
    package var requiresAuthenticator: Bool { steps.requireAuthenticator }
}
