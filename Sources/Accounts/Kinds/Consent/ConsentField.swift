internal import Crypto
internal import Foundation

/// A field for consent to a document. The value contains the answer, the version of the document, the SHA-256 and the
/// language of the shown text, and the time of the answer.
package struct ConsentField: FieldKind {
    package typealias Value = Consent
    package static let name = "consent"
    let version: String
    let documents: [Language: String]
    private let digests: [Language: String]
    /// True if the person must accept the document, false if the person may also decline it.
    let isRequired: Bool

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {
        version = try rules.text("version")
        documents = try rules.texts("document", allowsLineBreaks: true)
        digests = documents.mapValues { SHA256.hash(data: Data($0.utf8)).hex }
        isRequired = rules.isRequired
    }

    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> Consent
    {
        guard case .json(.bool(let isAccepted)) = answer else {
            throw Refusals(field, .wrongType, ["expected": "boolean"])
        }
        if isRequired, !isAccepted { throw Refusals(field, .notAccepted) }
        // If the person gives the same answer to an unchanged document again, the time of the first answer stays.
        if let earlier = value(in: context.values, of: field), earlier.isAccepted == isAccepted,
            isValid(earlier, of: field, in: context)
        {
            return earlier
        }
        return consent(isAccepted, in: context.language, at: context.now)
    }

    func consent(_ isAccepted: Bool, in language: Language, at now: Date) -> Consent {
        Consent(
            isAccepted: isAccepted,
            version: version,
            digest: digest(in: language),
            locale: language.tag,
            givenAt: now.timestamp
        )
    }

    package func isValid(_ value: Consent, of field: FieldName, in context: ValidationContext) -> Bool {
        (value.isAccepted || !isRequired) && isCurrent(value)
    }

    /// Whether the document still has the version and the text that the person has answered to.
    private func isCurrent(_ value: Consent) -> Bool {
        guard let language = documents.keys.first(where: { $0.tag == value.locale }) else { return false }
        return JSON.string(value.version) == .string(version) && value.digest == digest(in: language)
    }

    package func shown(_ value: Consent, at place: DisplayContext) -> JSON {
        place == .draft ? ["accepted": .bool(value.isAccepted), "version": .string(value.version)] : value.json
    }

    package func rules(in language: Language) -> [JSON.Member] {
        [
            .init("must_accept", .bool(isRequired)), .init("version", .string(version)),
            .init("document", .string(document(in: language))), .init("sha256", .string(digest(in: language))),
        ]
    }

    /// Tells whether the texts of the document differ, in any language.
    package var serverRules: [JSON.Member] {
        let all = digests.sorted { $0.key.tag < $1.key.tag }.map { "\($0.key.tag) \($0.value)" }.joined(separator: "\n")
        return [.init("document", .string(String(SHA256.hash(data: Data(all.utf8)).hex.prefix(8))))]
    }

    package var control: Control { Control(type: "checkbox") }
    package var answerSchema: JSON { ["type": "boolean"] }

    package func shownSchema(at place: DisplayContext) -> JSON {
        let brief: [JSON.Member] = [.init("accepted", ["type": "boolean"]), .init("version", ["type": "string"])]
        let rest: [JSON.Member] = [
            .init("sha256", ["type": "string", "pattern": "^[0-9a-f]{64}$"]), .init("locale", ["type": "string"]),
            .init("at", ["type": "string", "format": "date-time"]),
        ]
        return .closedObject(.object(place == .draft ? brief : brief + rest))
    }

    /// Browsers send `on` for a ticked checkbox, and nothing for one that is not ticked.
    package func answer(inForm texts: [String]) -> JSON {
        switch texts[0] {
        case "on", "true": true
        case "false": false
        default: .string(texts[0])
        }
    }

    package func masked(_ value: Consent) -> String { value.isAccepted ? "accepted" : "not accepted" }
    package func revealed(_ value: Consent) -> String { masked(value) }

    package func templateMembers(_ form: FormField) -> [JSON.Member] {
        // A box that was ticked for an earlier text is not ticked for a new one: the person must agree to it again.
        let isAccepted = Consent(json: form.value).map { $0.isAccepted && isCurrent($0) } ?? (form.value == true)
        let hasAgreed = Consent(json: form.shown).map { $0.isAccepted && isCurrent($0) } ?? false
        // A person cannot withdraw a required consent from their account.
        let isFixed = form.step.isOfAccount && isRequired && hasAgreed
        let label = form.field.shortLabel(in: form.language) ?? form.field.name.rawValue
        return [
            .init("is_accepted", .bool(isAccepted)), .init("is_fixed", .bool(isFixed)),
            .init("read_text", .string(form.language.messages.readText(of: label))),
        ]
    }

    package func reviewText(_ shown: JSON, in language: Language) -> String {
        let isAccepted = shown["accepted"] == true
        return language.messages.text(!isAccepted ? .notAccepted : isRequired ? .accepted : .chosen)
    }

    package var missingText: Word { .notAccepted }
    package var accountPart: AccountPart { .consents }

    func document(in language: Language) -> String { documents[language] ?? "" }

    private func digest(in language: Language) -> String { digests[language] ?? "" }
}

/// The answer of a person who accepted or declined a document.
package struct Consent: StoredValue {
    package let isAccepted: Bool
    /// The version of the document.
    package let version: String
    /// The SHA-256 of the shown text, in hexadecimal.
    package let digest: String
    /// The language of the shown text, such as `ko`.
    package let locale: String
    /// The time of the answer, in the format of RFC 3339.
    package let givenAt: String
}

extension Consent {
    package init?(json: JSON) {
        guard case .bool(let isAccepted)? = json["accepted"], let version = json["version"]?.string,
            let digest = json["sha256"]?.string, let locale = json["locale"]?.string, let givenAt = json["at"]?.string
        else { return nil }
        self.init(isAccepted: isAccepted, version: version, digest: digest, locale: locale, givenAt: givenAt)
    }

    package var json: JSON {
        [
            "accepted": .bool(isAccepted), "version": .string(version), "sha256": .string(digest),
            "locale": .string(locale), "at": .string(givenAt),
        ]
    }
}

extension JSON {
    /// The SHA-256 of the JSON text, in hexadecimal.
    package var digest: String { SHA256.hash(data: bytes).hex }
}

extension SHA256Digest {
    fileprivate var hex: String { map { String(format: "%02x", $0) }.joined() }
}
