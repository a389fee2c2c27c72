internal import Foundation

@testable import Accounts

/// Measures the time to validate a whole sign-up with the default flow, and the slowest text of 64 KiB for each kind of
/// field.
enum Validation {
    static func measure() throws {
        try measureDraft()
        try measureHostileTexts()
    }

    // MARK: A whole draft

    private static let targetForDraft = Duration.microseconds(20)

    private static let answers: [FieldName: FieldAnswer] = [
        "email": .json("ann.lee@example.org"),
        "code": .json("123456"),
        "password": .typed("four plain words here"),
        "confirmation": .typed("four plain words here"),
        "username": .json("ann_lee"),
        "display_name": .json("Ann Lee 이안"),
        "introduction": .json("I write about cities, and about those who walk in them.\n저는 서울에서 살아요."),
        "phone": .json("010-1234-5678"),
        "birth_date": .json("1990-05-17"),
        "totp": .json("123456"),
        "terms": .json(true),
        "marketing": .json(false),
    ]

    /// Validates each answer with the previous steps filled in, then computes the progress of the filled draft. This
    /// includes reading a stored hash, but not hashing.
    private static func measureDraft() throws {
        let flow = try Flow.standard()
        var stored = ValidationContext(in: flow).with(proofs: ["code": .proved()])
        var asked: [(field: Field, context: ValidationContext)] = []
        for step in flow.steps {
            var context = stored
            context.answers = Answers(step.fields.map { .init($0.name, answers[$0.name]!) })
            for field in step.fields {
                asked.append((field, context))
                let input = try field.kind.parse(answers[field.name]!, of: field.name, in: context)
                stored.values[field.name] = value(of: input, field.kind)
            }
            stored.values.answered.insert(step.name)
        }
        guard SignupProgress(of: stored).isReady else { preconditionFailure("the answers fill the default flow") }

        var table = Table("field", "kind", "answer µs", "stored µs")
        for (field, context) in asked {
            let answer = try time { try validate(field, in: context) }
            let holds = time { _ = field.kind.holds(field.name, in: stored) }
            table.append(
                field.name.rawValue,
                type(of: field.kind).name,
                answer.text(in: .microseconds(1)),
                holds.text(in: .microseconds(1))
            )
        }
        let progress = time { _ = SignupProgress(of: stored) }
        let whole = try time {
            for (field, context) in asked { try validate(field, in: context) }
            _ = SignupProgress(of: stored)
        }
        table.append("progress of the draft", "", "", progress.text(in: .microseconds(1)))
        table.append("total", "", "", whole.text(in: .microseconds(1), target: targetForDraft))
        table.print(under: "Validating a whole draft of the default flow; the target is 20 µs in total")
    }

    private static func validate(_ field: Field, in context: ValidationContext) throws {
        _ = try field.kind.parse(answers[field.name]!, of: field.name, in: context)
    }

    /// The stored value of an answer: a hash for a password, and nil for kinds that take a guess, such as a code.
    private static func value(of input: any Sendable, _ kind: any FieldKind) -> (any StoredValue)? {
        if kind.takesGuess { return nil }
        guard let password = kind as? PasswordField else { return input as? any StoredValue }
        let hash = PHCString(
            parameters: Argon2Parameters(),
            salt: Array(repeating: 7, count: 16),
            tag: Array(repeating: 9, count: 32)
        )
        return PasswordHash(phc: hash, minimum: password.policy.minimum)
    }

    // MARK: Hostile texts

    private static let targetForText = Duration.milliseconds(1)

    /// Measures texts of 64 KiB in a field of each kind, under rules that refuse as little as possible.
    private static func measureHostileTexts() throws {
        let fields = [
            ("email", try AskedField(["name: email, kind: email"])),
            (
                "code",
                try AskedField(["name: email, kind: email"], ["name: code, kind: code, proves: email, digits: 10"])
            ),
            ("password", try AskedField(["name: password, kind: password"])),
            (
                "confirmation",
                try AskedField(["name: p, kind: password", "name: again, kind: confirmation, confirms: p"])
            ),
            ("username", try AskedField(["name: username, kind: username"])),
            ("text, one line", try AskedField(["name: f, kind: text"])),
            ("text, many lines", try AskedField(["name: f, kind: text, lines: many"])),
            ("text with a pattern", try AskedField(["name: f, kind: text, lines: many, pattern: '(.+)+\\pL*$'"])),
            ("text of up to 10 000", try AskedField(["name: f, kind: text, lines: many, max: 10000"])),
            ("choice of one", try AskedField(["name: f, kind: choice, \(options)"])),
            ("choice of several", try AskedField(["name: f, kind: choice, choose: several, \(options)"])),
            ("number", try AskedField(["name: f, kind: number"])),
            ("date", try AskedField(["name: f, kind: date"])),
            ("phone", try AskedField(["name: f, kind: phone"])),
            ("consent", try AskedField(["name: f, kind: consent, version: '1', document: D"])),
        ]
        var table = Table("kind", "worst ms", "worst text")
        for (kind, field) in fields {
            var worst = (took: Duration.zero, text: "")
            for hostile in HostileText.all {
                for answer in answers(of: hostile, to: field) {
                    var field = field
                    if case .secret = answer { field.context.answers = Answers([.init("p", answer)]) }
                    let took = time(filling: .milliseconds(2)) { _ = try? field.parse(answer) }
                    if took > worst.took { worst = (took, hostile.description) }
                }
            }
            table.append(kind, worst.took.text(in: .milliseconds(1), target: targetForText), worst.text)
        }
        table.print(under: "The worst 64 KiB for each kind of field; the target is 1 ms")
    }

    private static let options = "options: [{value: a, label: A}, {value: b, label: B}, {value: '0', label: C}]"

    /// The hostile text in the forms in which a body of 64 KiB can contain it as an answer to the field.
    private static func answers(of hostile: HostileText, to field: AskedField) -> [FieldAnswer] {
        switch field.field.kind {
        case is PasswordField, is ConfirmationField:
            // The second answer is the longest password that is validated.
            [.typed(hostile.text), .typed(String(hostile.text.utf8.prefix(PasswordRules.maximumBytes)) ?? "")]
        case is EmailField:
            [hostile.text, "a@" + hostile.text, hostile.text + "@b.example"].map { .json(.string($0)) }
        case let choice as ChoiceField where choice.isMultiple:
            [[hostile.text], Array(repeating: hostile.piece, count: 16_384)].map { .json(.array($0.map(JSON.string))) }
        default: [.json(.string(hostile.text))]
        }
    }
}
