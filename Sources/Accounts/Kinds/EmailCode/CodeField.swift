internal import Foundation

/// A field for a code that is mailed to the address in another field. A correct answer proves that the person reads
/// mail to this address. The draft stores no value: the field is complete while the current address is proved
/// (``Proof/isProved``).
package struct CodeField: FieldKind {
    package typealias Value = Never
    package typealias Input = String
    package static let name = "code"
    /// The field with the address.
    package let proves: FieldName
    /// The number of digits of a code.
    package let digits: Int
    package let lifetime: Duration
    /// The maximum number of guesses at one code. Other maximums are ``Proof/maximumFailures`` for all codes of a draft
    /// and field together, `guessesForAddressFromNetwork` and `guessesForAddress` in ``Limits`` for the codes to an
    /// address, and ``PendingSignIn/maximumAttempts`` for a code of a sign-in.
    package let attempts: Int
    /// The minimum time between two codes of a draft to the same address.
    package let resendAfter: Duration

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {
        proves = FieldName(try rules.text("proves"))
        digits = try rules.integer("digits", in: 6...10) ?? 6
        // The maximum lifetime and the maximum number of attempts follow NIST SP 800-63B and OWASP ASVS 6.5.5.
        lifetime = try rules.duration("lifetime", in: .seconds(60) ... .seconds(600)) ?? .seconds(600)
        attempts = try rules.integer("attempts", in: 1...5) ?? 5
        resendAfter = try rules.duration("resend", in: .seconds(30) ... .seconds(3600)) ?? .seconds(60)
    }

    /// Checks only the format. ``submit(_:_:)`` counts an attempt and compares the code.
    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> String
    {
        try answer.digits(digits, of: field)
    }

    package func holds(_ field: FieldName, in context: ValidationContext) -> Bool {
        context.proofs[field]?.isProved ?? false
    }

    package var takesGuess: Bool { true }
    package var canBeSkipped: Bool { false }
    package var provedField: FieldName? { proves }

    package var serverRules: [JSON.Member] {
        [
            .init("attempts", .integer(attempts)), .init("lifetime", .string(lifetime.inLargestUnit)),
            .init("resend", .string(resendAfter.inLargestUnit)),
        ]
    }

    package func rules(in language: Language) -> [JSON.Member] {
        [.init("proves", .string(proves.rawValue)), .init("digits", .integer(digits))]
    }

    package var control: Control { .oneTimeCode }
    package var answerSchema: JSON { .digitsSchema(digits) }

    package func shownSchema(at place: DisplayContext) -> JSON {
        .closedObject(["verified": ["const": true]])
    }
}

extension FieldAnswer {
    /// Returns the digits of the answer in ASCII, without spaces. Throws `bad_format` if the answer contains anything
    /// except digits and spaces, or another number of digits.
    func digits(_ count: Int, of field: FieldName) throws(Refusals) -> String {
        guard let digits = try text(of: field).digits(count) else {
            throw Refusals(field, .badFormat, ["digits": .integer(count)])
        }
        return digits
    }
}

extension JSON {
    /// The schema of the texts that `String.digits(_:)` accepts.
    static func digitsSchema(_ count: Int) -> JSON {
        ["type": "string", "pattern": .string("^[ \u{3000}]*([0-9０-９][ \u{3000}]*){\(count)}$")]
    }
}

extension Control {
    static let oneTimeCode = Control(type: "text", autocomplete: "one-time-code", inputMode: "numeric")
}
