internal import CPhoneNumber

/// A field for a mobile or fixed-line phone number, which libphonenumber validates. It is stored in E.164 form.
package struct PhoneField: FieldKind {
    package typealias Value = PhoneNumber
    package static let name = "phone"
    /// The region (ISO 3166-1) of numbers without a country code.
    let region: String

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {
        region = try rules.optionalText("region") ?? "KR"
        guard phone_knows_region(region) else {
            throw rules.error(
                "\"region\" must be an ISO 3166-1 code that libphonenumber supports, in capital letters, such as KR",
                at: "region"
            )
        }
    }

    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> PhoneNumber
    {
        let text = try answer.text(of: field)
        // 48 bytes are enough for fifteen digits, each with a mark and a space. Longer texts are not parsed.
        if text.utf8.count > 48 { throw Refusals(field, .tooLong, ["max": 48, "actual": .integer(text.utf8.count)]) }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || Self.marks.contains($0) }) else {
            throw Refusals(field, .badCharacters)
        }
        guard let number = Self.e164(text, in: region) else { throw Refusals(field, .badFormat) }
        return PhoneNumber(e164: number)
    }

    /// Shows the whole number in its own step and at the review, so that the person can correct it. The overview of the
    /// draft shows only its first three characters and its last two.
    package func shown(_ value: PhoneNumber, at place: DisplayContext) -> JSON {
        if place != .draft { return value.json }
        let number = value.e164
        return .string(
            "\(number.prefix(3))\(String(repeating: "•", count: max(0, number.count - 5)))\(number.suffix(2))"
        )
    }

    package func written(_ value: PhoneNumber) -> String? {
        var number = value.e164
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            let isNumber = number.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { bytes in
                    phone_format_text(bytes.baseAddress, bytes.count, region, buffer.baseAddress, buffer.count)
                }
            }
            return isNumber ? String(cString: buffer.baseAddress!) : nil
        }
    }

    package func reviewText(_ shown: JSON, in language: Language) -> String {
        written(json: shown) ?? shown.string ?? ""
    }

    package func rules(in language: Language) -> [JSON.Member] { [.init("region", .string(region))] }

    package var topic: RefusalTopic { region == "KR" ? .phone : .internationalPhone }
    package var control: Control { Control(type: "tel", autocomplete: "tel", inputMode: "tel") }
    package var answerSchema: JSON { ["type": "string", "maxLength": 48] }

    private static let marks = Set("+()-./ ".utf8)

    private static func e164(_ text: String, in region: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 17) { buffer in
            var text = text
            let isNumber = text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { bytes in
                    phone_format_e164(bytes.baseAddress, bytes.count, region, buffer.baseAddress)
                }
            }
            return isNumber ? String(cString: buffer.baseAddress!) : nil
        }
    }
}

/// A phone number in E.164, such as `+821012345678`.
package struct PhoneNumber: StoredValue {
    package let e164: String

    init(e164: String) {
        self.e164 = e164
    }

    package init?(json: JSON) {
        guard case .string(let text) = json else { return nil }
        e164 = text
    }

    package var json: JSON { .string(e164) }
}
