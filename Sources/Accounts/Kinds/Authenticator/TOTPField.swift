/// An authenticator app, set up by submitting one of its codes (RFC 6238). The stored value is the secret shared with
/// the app. Only its step shows the secret, and only before a code has confirmed it.
package struct TOTPField: FieldKind {
    package typealias Value = Authenticator
    package typealias Input = String
    package static let name = "totp"

    package init(rules: inout FlowEntry) throws(FlowFileError) {}

    /// Checks only the format. ``Signups`` compares the code and spends an attempt on it.
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
    /// Whether every account of these steps has an authenticator app.
    var requireAuthenticator: Bool {
        contains { step in !step.isOptional && step.fields.contains { $0.isRequired && $0.kind is TOTPField } }
    }
}

extension Flow {
    /// Whether every account has an authenticator app.
    package var requiresAuthenticator: Bool { steps.requireAuthenticator }
}
