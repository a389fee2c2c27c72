import Foundation

@testable import Accounts

extension Flow {
    /// A flow with one step for each list of fields. A field is written as in a flow file, without its label.
    static func asking(_ steps: [[String]], zone: String = "UTC") throws -> Flow {
        var yaml = "flow: test\nversion: 1\nzone: \(zone)\nsteps:\n"
        for (index, fields) in steps.enumerated() {
            yaml += "  - name: step-\(index)\n    title: {en: Step}\n    fields:\n"
            for field in fields { yaml += "      - {\(field), label: {en: Field}}\n" }
        }
        return try Flow(yaml: yaml, file: "test.yaml")
    }
}

extension ValidationContext {
    /// The context of a draft without values, at noon of 1 January 2026, UTC.
    init(in flow: Flow) {
        self.init(
            flow: flow,
            now: .at("2026-01-01T12:00:00Z"),
            language: .english,
            serviceName: "Große Anmeldung",
            values: Values(),
            proofs: [:]
        )
    }

    func with(
        now: Date? = nil,
        language: Language? = nil,
        values: Values? = nil,
        proofs: [FieldName: Proof]? = nil
    ) -> ValidationContext {
        var values = values ?? self.values
        values.decode(in: flow)
        return ValidationContext(
            flow: flow,
            now: now ?? self.now,
            language: language ?? self.language,
            serviceName: serviceName,
            values: values,
            proofs: proofs ?? self.proofs,
            answers: answers
        )
    }

    /// Stores JSON in a field, even if the kind of the field does not allow this value.
    mutating func put(_ json: JSON?, in field: FieldName) {
        var fields: [FieldName: JSON] = [:]
        for name in values.fields { fields[name] = values.json(of: name) }
        fields[field] = json
        self = with(values: Values(fields, answered: values.answered))
    }
}

/// The last field of a flow, and the context in which its answers are validated.
struct AskedField {
    let field: Field
    var context: ValidationContext

    init(_ steps: [String]..., zone: String = "UTC") throws {
        let flow = try Flow.asking(steps, zone: zone)
        field = flow.fields.last!
        context = ValidationContext(in: flow)
    }

    /// The parsed answer. Its type depends on the kind of the field.
    func parse(_ answer: FieldAnswer) throws(Refusals) -> any Sendable {
        try field.kind.parse(answer, of: field.name, in: context)
    }

    /// The JSON that is stored for an answer; null if the parsed answer is not a ``StoredValue``, such as a password.
    func canonical(_ answer: JSON) throws(Refusals) -> JSON {
        (try parse(.json(answer)) as? any StoredValue)?.json ?? .null
    }

    /// The refusals of an answer; empty if it is accepted.
    func refusals(_ answer: JSON) -> [Refusal] { refusals(FieldAnswer.json(answer)) }

    @_disfavoredOverload
    func refusals(_ answer: FieldAnswer) -> [Refusal] {
        do throws(Refusals) {
            _ = try parse(answer)
            return []
        } catch {
            return error.all
        }
    }

    func holds(_ stored: JSON?) -> Bool {
        var context = context
        context.put(stored, in: field.name)
        return field.kind.holds(field.name, in: context)
    }

    /// The form of a stored value that the field shows at this place; nil if the value is not of the field's kind.
    func shown(_ stored: JSON, at place: DisplayContext) -> JSON? { field.kind.shown(json: stored, at: place) }

    /// True if parsing this JSON returns it unchanged, and the field is complete when it is stored.
    func isSettled(on canonical: JSON) throws -> Bool {
        try self.canonical(canonical) == canonical && holds(canonical)
    }
}

extension Values {
    init(_ fields: [FieldName: JSON], answered: Set<StepName> = []) {
        self.init(undecoded: fields.map { .init($0.key.rawValue, $0.value) })
        self.answered = answered
    }
}

extension FieldKind {
    func shown(json: JSON, at place: DisplayContext) -> JSON? { Value(json: json).map { shown($0, at: place) } }
    func contextWords(ofJSON json: JSON) -> [String] { Value(json: json).map(contextWords) ?? [] }
}

extension Proof {
    static func proved(forCurrentAddress: Bool = true) -> Proof {
        let sentAt = Date.at("2026-01-01T11:55:00Z")
        return Proof(
            generation: 1,
            addressDigest: [],
            attempts: 1,
            failures: 0,
            sentAt: sentAt,
            expiresAt: sentAt + 600,
            provedAt: sentAt + 60,
            acceptedCodeDigest: nil,
            isForCurrentAddress: forCurrentAddress
        )
    }

    static var pending: Proof {
        let sentAt = Date.at("2026-01-01T11:55:00Z")
        return Proof(
            generation: 1,
            addressDigest: [],
            attempts: 0,
            failures: 0,
            sentAt: sentAt,
            expiresAt: sentAt + 600,
            provedAt: nil,
            acceptedCodeDigest: nil,
            isForCurrentAddress: true
        )
    }
}

extension Date {
    /// The time that an RFC 3339 text means.
    static func at(_ text: String) -> Date {
        guard let date = try? Date(text, strategy: .iso8601) else {
            preconditionFailure("\(text) is not an RFC 3339 instant")
        }
        return date
    }
}

extension FieldAnswer {
    /// A secret answer with this text, like one that was read from a request.
    static func typed(_ text: String) -> FieldAnswer {
        let bytes = Array(text.utf8)
        return .secret(
            SharedSecret(
                Secret(capacity: bytes.count) { room in
                    room.copyBytes(from: bytes)
                    return bytes.count
                }
            )
        )
    }
}

/// A piece of text, repeated up to 64 KiB: the maximum size of a request body without images.
struct HostileText: CustomStringConvertible, Sendable {
    let piece: String

    var text: String { String(repeating: piece, count: 65_536 / piece.utf8.count) }
    var description: String {
        piece.unicodeScalars.map { "U+" + String($0.value, radix: 16) }.joined(separator: " ")
    }

    static let all = [
        "a", "A", "0", "-", ".", "@", "a@", "a.", "a@b.", " ", "\t", "\r\n", "é", "e\u{301}", "\u{301}",
        "\u{323}\u{301}",
        "\u{301}\u{323}", "ü.", "。", "İ", "ß", "한", "\u{1112}\u{1161}", "\u{FDFA}", "\u{1D160}", "👨‍👩‍👧‍👦", "\u{200B}",
        "\u{202E}",
        "\u{FFFF}", "\u{3000}", "2000-02-29", "٣", "xn--", "\"", "\\", "\0",
    ].map(HostileText.init)
}

/// A generator that returns the same numbers for the same seed on all platforms (Steele, Lea and Flood, “Fast
/// splittable pseudorandom number generators”, 2014).
struct SeededChance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
