internal import Crypto
internal import Foundation

/// Agreement to a document. What is kept says to which: version, SHA-256 of the text shown, language and time.
package struct ConsentField: FieldKind {
    package static let name = "consent"
    let version: String
    let documents: [Language: String]
    private let digests: [Language: String]
    /// A required consent must be given; another may be refused.
    let isRequired: Bool

    package init(rules: inout FlowEntry) throws(FlowFileError) {
        version = try rules.text("version")
        documents = try rules.texts("document", hasLines: true)
        digests = documents.mapValues { SHA256.hash(data: Data($0.utf8)).hex }
        isRequired = rules.isRequired
    }

    package func canonical(_ answer: JSON, of field: FieldName, in situation: Situation) throws(Refusals) -> JSON {
        guard case .bool(let isAccepted) = answer else { throw Refusals(field, .wrongType, ["expected": "boolean"]) }
        if isRequired, !isAccepted { throw Refusals(field, .notAccepted) }
        // What was agreed to before is not agreed to again at another time.
        if let earlier = situation.values[field], earlier["accepted"] == answer,
            holds(earlier, of: field, in: situation)
        {
            return earlier
        }
        return [
            "accepted": .bool(isAccepted), "version": .string(version),
            "sha256": .string(digest(in: situation.language)), "locale": .string(situation.language.rawValue),
            "at": .string(situation.now.timestamp),
        ]
    }

    package func holds(_ stored: JSON?, of field: FieldName, in situation: Situation) -> Bool {
        guard let stored, case .bool(let isAccepted)? = stored["accepted"], case .string(let tag)? = stored["locale"],
            let language = Language(rawValue: tag)
        else { return false }
        return (isAccepted || !isRequired) && stored["version"] == .string(version)
            && stored["sha256"] == .string(digest(in: language))
    }

    package func shown(_ stored: JSON, at place: DisplayContext) -> JSON {
        guard case .object(let members) = stored, place == .draft else { return stored }
        return .object(members.filter { ["accepted", "version"].contains($0.name) })
    }

    package func rules(in language: Language) -> [JSON.Member] {
        [
            .init("must_accept", .bool(isRequired)), .init("version", .string(version)),
            .init("document", .string(document(in: language))), .init("sha256", .string(digest(in: language))),
        ]
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

    /// A box that is not ticked is not sent at all.
    package func answer(inForm texts: [String]) -> JSON {
        switch texts[0] {
        case "on", "true": true
        case "false": false
        default: .string(texts[0])
        }
    }

    package func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError) {
        guard let consent = plan.draft.values[field.name], case .bool(let isAccepted)? = consent["accepted"] else {
            return
        }
        plan.statements.append(
            """
            INSERT INTO consents (account, field, accepted, version, document, locale, given_at)
            SELECT id, \(field.name.rawValue), \(isAccepted), \(consent["version"]?.string),
                   decode(\(consent["sha256"]?.string), 'hex'), \(consent["locale"]?.string),
                   \(consent["at"]?.string)::timestamptz
              FROM \(plan.newAccount)
            """
        )
    }

    package func masked(_ stored: JSON) -> String { stored["accepted"] == true ? "accepted" : "not accepted" }
    package func revealed(_ stored: JSON) -> String { masked(stored) }

    package func templateMembers(_ form: FormField) -> [JSON.Member] {
        [.init("is_accepted", .bool(form.value == true || form.value["accepted"] == true))]
    }

    package func reviewText(_ shown: JSON, in language: Language) -> String {
        language.messages.text(shown["accepted"] == true ? .accepted : .notAccepted)
    }

    func document(in language: Language) -> String { documents[language] ?? "" }

    private func digest(in language: Language) -> String { digests[language] ?? "" }
}

extension JSON {
    /// The SHA-256 of the text, in hexadecimal.
    package var digest: String { SHA256.hash(data: bytes).hex }
}

extension SHA256Digest {
    fileprivate var hex: String { map { String(format: "%02x", $0) }.joined() }
}

extension Date {
    /// RFC 3339 in UTC, to the second.
    package var timestamp: String { formatted(.iso8601) }
}
