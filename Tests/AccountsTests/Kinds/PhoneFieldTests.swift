import Testing

@testable import Accounts

@Suite("Phone numbers")
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
    func `a number of a mobile or fixed line becomes E.164`(typed: String, canonical: String) throws {
        #expect(try phone.canonical(.string(typed)) == .string(canonical))
        #expect(try phone.isSettled(on: .string(canonical)))
    }

    @Test(arguments: [
        "1012345678", "101234567", "10123456", "212345678", "21234567", "607001234", "15881234", "5012345678",
        "7012345678", "3112345678", "1", "99999999999999",
    ])
    func `whether it came as we write it makes no difference`(digits: String) {
        let parsed = phone.refusals(.string("+82 \(digits)"))
        #expect(phone.refusals(.string("+82\(digits)")) == parsed)
        #expect(phone.holds(.string("+82\(digits)")) == parsed.isEmpty)
    }

    @Test func `without a country's code the region of the field decides`() throws {
        #expect(try american.canonical("650-253-0000") == "+16502530000")
        #expect(phone.refusals("650-253-0000") == [Refusal("phone", .badFormat)])
        #expect(try american.isSettled(on: "+821012345678"))
    }

    @Test(arguments: [
        // Too short, too long, of no country, nothing but marks.
        "010-123-456", "010-1234-56789", "+999 1234 5678", "+", "-", "()", "+82", "0", "112", "+8210123456",
        "+82101234567890123",
        // Premium, shared cost, internet telephony.
        "060-700-1234", "1588-1234", "070-1234-5678", "+1 900 555 0100",
    ])
    func `what is none, or one of another sort, is refused`(typed: String) {
        #expect(phone.refusals(.string(typed)) == [Refusal("phone", .badFormat)])
        #expect(!phone.holds(.string(typed)))
    }

    @Test(arguments: [
        "010-1234-567x", "1-800-FLOWERS", "tel:+821012345678", "010-1234-5678 ext. 5", "010-1234-5678;ext=5",
        "010-1234-5678#5", "٠١٠١٢٣٤٥٦٧٨", "０１０１２３４５６７８", "010\u{200B}12345678", "010-1234-5678\n", "010–1234–5678",
        "+82\0",
    ])
    func `only digits and the usual marks are typed`(typed: String) {
        #expect(phone.refusals(.string(typed)) == [Refusal("phone", .badCharacters)])
    }

    @Test func `what no number is as long as is not parsed`() {
        let most = String(repeating: " ", count: 37) + "01012345678"
        #expect(phone.refusals(.string(most)).isEmpty)
        #expect(
            phone.refusals(.string(" " + most)) == [Refusal("phone", .tooLong, ["max": 48, "actual": 49])]
        )
    }

    @Test(arguments: [nil, 1012345678, true, [], [:], ["+821012345678"], .number(1.5)] as [JSON])
    func `only a text is a number`(answer: JSON) {
        #expect(phone.refusals(answer) == [Refusal("phone", .wrongType, ["expected": "string"])])
    }

    @Test func `an empty text is missing`() {
        #expect(phone.refusals("") == [Refusal("phone", .required)])
        #expect(!phone.holds(nil))
    }

    @Test(arguments: HostileText.all)
    func `no hostile text gets far`(hostile: HostileText) {
        #expect(!phone.refusals(.string(hostile.text)).isEmpty)
    }

    @Test func `its own step shows it, elsewhere only its ends are seen`() {
        #expect(phone.shown("+821012345678", at: .step) == "+821012345678")
        #expect(phone.shown("+821012345678", at: .draft) == "+82••••••••78")
        #expect(phone.shown("+821012345678", at: .review) == "+82••••••••78")
    }

    @Test func `clients learn the region, and that it is a number`() {
        #expect(american.field.kind.rules(in: .english) == [.init("region", "US")])
        let control = american.field.control
        #expect((control.type, control.autocomplete, control.inputMode) == ("tel", "tel", "tel"))
    }
}
