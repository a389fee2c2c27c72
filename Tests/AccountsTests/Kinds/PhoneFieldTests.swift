import Testing

@testable import Accounts

@Suite("A phone field")
struct PhoneFieldTests {
    private let phone: AskedField
    private let american: AskedField

    init() throws {
        phone = try AskedField(["name: phone, kind: phone"])
        american = try AskedField(["name: phone, kind: phone, region: US"])
    }

    @Test(arguments: [
        ("010-1234-5678", "+821012345678"), ("01012345678", "+821012345678"), ("010.1234.5678", "+821012345678"),
        ("(010) 1234 5678", "+821012345678"), (" 010-1234-5678 ", "+821012345678"), ("02-312-3456", "+8223123456"),
        ("+82 10-1234-5678", "+821012345678"), ("+82 (0)10 1234 5678", "+821012345678"),
        ("+1 650-253-0000", "+16502530000"), ("+44 7912 345678", "+447912345678"), ("+49 30 901820", "+4930901820"),
        ("001-1-650-253-0000", "+16502530000"), ("+821012345678", "+821012345678"),
        ("+82010-1234-5678", "+821012345678"),
        ("+39 06 698 12345", "+390669812345"),
    ])
    func `a mobile or fixed-line number is stored as E.164`(typed: String, canonical: String) throws {
        #expect(try phone.canonical(.string(typed)) == .string(canonical))
        #expect(try phone.isSettled(on: .string(canonical)))
    }

    @Test(arguments: [
        "1012345678", "101234567", "10123456", "212345678", "21234567", "607001234", "15881234", "5012345678",
        "7012345678", "3112345678", "1", "99999999999999",
    ])
    func `a number is validated the same with and without spaces`(digits: String) {
        let parsed = phone.refusals(.string("+82 \(digits)"))
        #expect(phone.refusals(.string("+82\(digits)")) == parsed)
        #expect(phone.holds(.string("+82\(digits)")) == parsed.isEmpty)
    }

    @Test func `a number without a country code is read with the region of the field`() throws {
        #expect(try american.canonical("650-253-0000") == "+16502530000")
        #expect(phone.refusals("650-253-0000") == [Refusal("phone", .badFormat)])
        #expect(try american.isSettled(on: "+821012345678"))
    }

    @Test(arguments: [
        // These are too short or too long, have no valid country, or consist of separators.
        "010-123-456", "010-1234-56789", "+999 1234 5678", "+", "-", "()", "+82", "0", "112", "+8210123456",
        "+82101234567890123",
        // These have other types: premium rate, shared cost, and VoIP.
        "060-700-1234", "1588-1234", "070-1234-5678", "+1 900 555 0100",
    ])
    func `an invalid number, or one of another type, is refused`(typed: String) {
        #expect(phone.refusals(.string(typed)) == [Refusal("phone", .badFormat)])
        #expect(!phone.holds(.string(typed)))
    }

    @Test(arguments: [
        "010-1234-567x", "1-800-FLOWERS", "tel:+821012345678", "010-1234-5678 ext. 5", "010-1234-5678;ext=5",
        "010-1234-5678#5", "٠١٠١٢٣٤٥٦٧٨", "０１０１２３４５６７８", "010\u{200B}12345678", "010-1234-5678\n", "010–1234–5678",
        "+82\0",
    ])
    func `characters other than digits and common separators are refused`(typed: String) {
        #expect(phone.refusals(.string(typed)) == [Refusal("phone", .badCharacters)])
    }

    @Test func `a text that is too long for a number is refused without parsing`() {
        let longest = String(repeating: " ", count: 37) + "01012345678"
        #expect(phone.refusals(.string(longest)).isEmpty)
        #expect(
            phone.refusals(.string(" " + longest)) == [Refusal("phone", .tooLong, ["max": 48, "actual": 49])]
        )
    }

    @Test(arguments: [nil, 1012345678, true, [], [:], ["+821012345678"], .number(1.5)] as [JSON])
    func `an answer that is not a string is refused`(answer: JSON) {
        #expect(phone.refusals(answer) == [Refusal("phone", .wrongType, ["expected": "string"])])
    }

    @Test func `an empty text is refused as required`() {
        #expect(phone.refusals("") == [Refusal("phone", .required)])
        #expect(!phone.holds(nil))
    }

    @Test(arguments: HostileText.all)
    func `a 64 KiB text is refused`(hostile: HostileText) {
        #expect(!phone.refusals(.string(hostile.text)).isEmpty)
    }

    @Test func `the step of the field and the review show the whole number, and the draft shows it masked`() {
        #expect(phone.shown("+821012345678", at: .step) == "+821012345678")
        #expect(phone.shown("+821012345678", at: .draft) == "+82••••••••78")
        #expect(phone.shown("+821012345678", at: .review) == "+821012345678")
    }

    @Test(arguments: [
        ("+821012345678", "010-1234-5678", "+82 10-1234-5678"), ("+8223123456", "02-312-3456", "+82 2-312-3456"),
        ("+16502530000", "+1 650-253-0000", "(650) 253-0000"), ("+14165550123", "+1 416-555-0123", "(416) 555-0123"),
    ])
    func `a number is written as people of the region write it`(e164: String, inKorea: String, inAmerica: String) throws
    {
        #expect(phone.field.kind.written(json: .string(e164)) == inKorea)
        #expect(american.field.kind.written(json: .string(e164)) == inAmerica)
        #expect(try phone.canonical(.string(inKorea)) == .string(e164))
        #expect(try american.canonical(.string(inAmerica)) == .string(e164))
    }

    @Test func `the example in a message is a number of the region`() {
        #expect(phone.field.kind.topic == .phone && american.field.kind.topic == .internationalPhone)
    }

    @Test func `the rules tell clients the region, and the control is of type tel`() {
        #expect(american.field.kind.rules(in: .english) == [.init("region", "US")])
        let control = american.field.control
        #expect((control.type, control.autocomplete, control.inputMode) == ("tel", "tel", "tel"))
    }
}
