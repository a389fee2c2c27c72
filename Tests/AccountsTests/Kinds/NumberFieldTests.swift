import Testing

@testable import Accounts

@Suite("A number field")
struct NumberFieldTests {
    let seats: AskedField
    let any: AskedField

    init() throws {
        seats = try AskedField(["name: seats, kind: number, min: -2, max: 40"])
        any = try AskedField(["name: seats, kind: number"])
    }

    @Test(arguments: [-2, -1, 0, 40])
    func `whole numbers within the bounds are accepted`(number: Int) throws {
        #expect(try seats.isSettled(on: .integer(number)))
    }

    @Test(arguments: [-3, 41, .max, .min])
    func `whole numbers out of bounds are refused`(number: Int) {
        #expect(seats.refusals(.integer(number)) == [Refusal("seats", .notAllowed, ["min": -2, "max": 40])])
    }

    @Test(arguments: [(9_007_199_254_740_991, true), (9_007_199_254_740_992, false), (-9_007_199_254_740_992, false)])
    func `the default bounds are the integers that a double represents exactly`(number: Int, isAllowed: Bool) {
        #expect(any.refusals(.integer(number)).isEmpty == isAllowed)
    }

    @Test(arguments: [.number(1), .number(1.5), "1", true, [1], [:]] as [JSON])
    func `an answer that is not a whole number is refused`(answer: JSON) {
        #expect(seats.refusals(answer).map(\.code) == [.wrongType])
    }

    @Test(arguments: ["min: 2, max: 1", "min: 1.5", "max: many", "max: 9007199254740992"])
    func `invalid rules are refused`(rules: String) {
        #expect(throws: YAMLFileError.self) { try AskedField(["name: seats, kind: number, \(rules)"]) }
    }

    @Test func `a minimum above the maximum is reported with its own line`() {
        let error = #expect(throws: YAMLFileError.self) {
            try AskedField(["name: seats, kind: number,\n        min: 2, max: 1"])
        }
        #expect(error?.line == 9)
    }
}
