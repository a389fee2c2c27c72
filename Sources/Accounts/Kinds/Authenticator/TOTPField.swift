/// An authenticator app, set up by showing one of its codes (RFC 6238). What is stored is the secret that the app shares
/// with us, which is told once, in its step, before a code has confirmed it.
package struct TOTPField: FieldKind {
    package typealias Value = Authenticator
    package typealias Input = String
    package static let name = "totp"

    package init(rules: inout FlowEntry) throws(FlowFileError) {}

    /// Only the shape: whether the app made it is for ``Signups`` to spend an attempt on.
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
