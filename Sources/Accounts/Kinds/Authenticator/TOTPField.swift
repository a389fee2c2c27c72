/// An authenticator app, set up by showing one of its codes (RFC 6238). What is stored is the secret that the app shares
/// with us, which is told once, in its step, before a code has confirmed it.
package struct TOTPField: FieldKind {
    package static let name = "totp"

    package init(rules: inout FlowEntry) throws(FlowFileError) {}

    /// Only the shape: whether the app made it is for ``Signups`` to spend an attempt on.
    package func canonical(_ answer: JSON, of field: FieldName, in situation: Situation) throws(Refusals) -> JSON {
        .string(try answer.digits(TOTP.digits, of: field))
    }

    package func holds(_ stored: JSON?, of field: FieldName, in situation: Situation) -> Bool {
        Authenticator(stored: stored) != nil
    }

    package func shown(_ stored: JSON, at place: DisplayContext) -> JSON { .isSet }
    package func shownSchema(at place: DisplayContext) -> JSON { .isSetSchema }

    package func rules(in language: Language) -> [JSON.Member] {
        [.init("digits", .integer(TOTP.digits)), .init("period", .integer(TOTP.period))]
    }

    package var takesGuess: Bool { true }

    package var control: Control { .oneTimeCode }
    package var answerSchema: JSON { .digitsSchema(TOTP.digits) }
}
