internal import Foundation

/// A code that is mailed to the address in another field, and proves that the holder of the draft reads its mail. The
/// code itself is never stored: the field is complete while the proof names the current address.
package struct CodeField: FieldKind {
    package typealias Value = Never
    package typealias Input = String
    package static let name = "code"
    package let proves: FieldName
    package let digits: Int
    package let lifetime: Duration
    package let attempts: Int
    package let resendAfter: Duration

    package init(rules: inout FlowEntry) throws(FlowFileError) {
        proves = FieldName(try rules.text("proves"))
        digits = try rules.integer("digits", in: 6...10) ?? 6
        // Both bounds follow NIST SP 800-63B and OWASP ASVS 6.5.5.
        lifetime = try rules.duration("lifetime", in: .seconds(60) ... .seconds(600)) ?? .seconds(600)
        attempts = try rules.integer("attempts", in: 1...5) ?? 5
        resendAfter = try rules.duration("resend", in: .seconds(30) ... .seconds(3600)) ?? .seconds(60)
    }

    /// Checks only the format. ``Signups`` compares the code and spends an attempt on it.
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
    /// The digits of an answer; spaces between them are ignored. Any other number of digits is `bad_format`.
    func digits(_ count: Int, of field: FieldName) throws(Refusals) -> String {
        guard let digits = try text(of: field).digits(count) else {
            throw Refusals(field, .badFormat, ["digits": .integer(count)])
        }
        return digits
    }
}

extension JSON {
    static func digitsSchema(_ count: Int) -> JSON {
        ["type": "string", "pattern": .string("^ *([0-9] *){\(count)}$")]
    }
}

extension Control {
    static let oneTimeCode = Control(type: "text", autocomplete: "one-time-code", inputMode: "numeric")
}
