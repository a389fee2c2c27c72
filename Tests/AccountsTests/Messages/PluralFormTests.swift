import Testing

@testable import Accounts

@Suite("Plural forms")
struct PluralFormTests {
    /// From the samples of the cardinal rules of Unicode CLDR.
    @Test(
        arguments: [
            ("ja", [:], [0, 1, 2, 100]), ("en", [.one: [1]], [0, 2, 11, 21, 100]),
            ("fr", [.one: [0, 1]], [2, 21, 100]), ("pt-BR", [.one: [0, 1]], [2, 101]),
            ("pt", [.one: [0, 1]], [2, 101]), ("pt-PT", [.one: [1]], [0, 2, 101]), ("sg", [:], [0, 1, 2]),
            ("nso", [.one: [0, 1]], [2, 101]), ("se", [.one: [1], .two: [2]], [0, 3, 100]),
            ("hsb", [.one: [1, 101], .two: [2, 102], .few: [3, 4, 103]], [0, 5, 11, 100]),
            ("is", [.one: [1, 21, 101]], [0, 2, 11, 111]), ("he", [.one: [1], .two: [2]], [0, 3, 100]),
            ("cs", [.one: [1], .few: [2, 3, 4]], [0, 5, 22, 100]),
            ("pl", [.one: [1], .few: [2, 4, 22, 102], .many: [0, 5, 12, 14, 21, 100, 112]], []),
            ("ru", [.one: [1, 21, 101], .few: [2, 4, 22, 104], .many: [0, 5, 11, 14, 20, 111]], []),
            ("sr", [.one: [1, 21, 101], .few: [2, 4, 22]], [0, 5, 11, 14, 20, 111]),
            ("sl", [.one: [1, 101], .two: [2, 102], .few: [3, 4, 103]], [0, 5, 11, 100]),
            ("ro", [.one: [1], .few: [0, 2, 19, 101, 119]], [20, 100, 120]),
            ("lt", [.one: [1, 21, 101], .few: [2, 9, 22]], [0, 10, 11, 19, 20]),
            ("lv", [.one: [1, 21, 101], .zero: [0, 10, 11, 19, 20, 100]], [2, 9, 22]),
            (
                "ar", [.zero: [0], .one: [1], .two: [2], .few: [3, 10, 103], .many: [11, 26, 99, 111]],
                [100, 101, 102, 200]
            ),
            ("tlh", [.one: [1]], [0, 2, 21]),
        ] as [(String, [PluralForm: [Int]], [Int])]
    )
    func `a number has the form of its language`(tag: String, samples: [PluralForm: [Int]], others: [Int]) {
        let rule = PluralRule(tag: tag)
        for (form, numbers) in samples.merging([.other: others], uniquingKeysWith: +) {
            for number in numbers { #expect(rule.form(of: number) == form, "\(tag): \(number)") }
        }
        #expect(rule.forms == Set(samples.keys).union([.other]))
    }
}
