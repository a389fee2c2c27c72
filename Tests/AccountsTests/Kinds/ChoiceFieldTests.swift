import Testing

@testable import Accounts

@Suite("A choice field")
struct ChoiceFieldTests {
    private static let options = """
        options: [{value: tea, label: {en: Tea}}, {value: coffee, label: {en: Coffee}}, {value: café, label: {en: Both}}]
        """
    let one: AskedField
    let several: AskedField

    init() throws {
        one = try AskedField(["name: drink, kind: choice, \(Self.options)"])
        several = try AskedField(["name: drink, kind: choice, choose: several, \(Self.options)"])
    }

    @Test(arguments: ["tea", "coffee", "café"])
    func `a valid option is stored unchanged`(value: String) throws {
        #expect(try one.isSettled(on: .string(value)))
    }

    @Test(arguments: ["Tea", "tea ", "milk", "cafe\u{301}", String(repeating: "e\u{301}", count: 20_000)])
    func `any other option is refused`(value: String) {
        #expect(one.refusals(.string(value)) == [Refusal("drink", .notAllowed)])
        #expect(several.refusals([.string(value)]) == [Refusal("drink", .notAllowed)])
        #expect(several.refusals(["tea", .string(value)]) == [Refusal("drink", .notAllowed)])
    }

    @Test(arguments: [
        (["tea"], ["tea"]), (["café", "tea"], ["tea", "café"]), (["tea", "tea"], ["tea"]),
        (["coffee", "café", "tea"], ["tea", "coffee", "café"]),
    ])
    func `several options are stored without duplicates, in the order of the flow file`(
        chosen: [String],
        kept: [String]
    ) throws {
        let form = JSON.array(kept.map(JSON.string))
        #expect(try several.canonical(.array(chosen.map(JSON.string))) == form)
        #expect(try several.isSettled(on: form))
    }

    @Test func `an empty list is refused as required`() {
        #expect(several.refusals([]) == [Refusal("drink", .required)])
    }

    @Test(arguments: [1, true, .null, ["tea"], [:]] as [JSON])
    func `a single choice that is not a string is refused`(answer: JSON) {
        #expect(one.refusals(answer).map(\.code) == [.wrongType])
    }

    @Test(arguments: [1, true, "tea", [1], ["tea", .null]] as [JSON])
    func `a multiple choice that is not a list of strings is refused`(answer: JSON) {
        #expect(several.refusals(answer).map(\.code) == [.wrongType])
    }

    @Test func `the rules tell clients the options and their labels`() {
        let published = several.field.kind.rules(in: .english)
        #expect(published[0] == .init("choose", "several"))
        let options: JSON = [
            ["value": "tea", "label": "Tea"], ["value": "coffee", "label": "Coffee"],
            ["value": "café", "label": "Both"],
        ]
        #expect(published.dropFirst() == [.init("options", options)])
    }

    @Test(arguments: [
        ("options: []", "\"options\" must be a list with at least one entry"),
        ("choose: one", "\"options\" must be a list with at least one entry"),
        ("options: [{value: a, label: {en: A}}, {value: a, label: {en: B}}]", "an option \"a\" already exists"),
        ("options: [{value: a}]", "\"label\" is missing"), ("options: [{label: {en: A}}]", "\"value\" is missing"),
        ("options: [{value: a, label: {en: A}, price: 1}]", "unknown key \"price\""),
        ("choose: two, options: [{value: a, label: {en: A}}]", "\"choose\" must be one of one, several, not \"two\""),
    ])
    func `invalid rules are refused`(rules: String, reason: String) {
        let error = #expect(throws: YAMLFileError.self) { try AskedField(["name: drink, kind: choice, \(rules)"]) }
        #expect(error?.reason == reason)
    }
}
