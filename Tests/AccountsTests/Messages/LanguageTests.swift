import Testing

@testable import Accounts

@Suite("Language negotiation")
struct LanguageTests {
    @Test(
        arguments: [
            ("ko", .korean), ("ko-KR", .korean), ("KO-kr", .korean), ("ko-Kore-KR", .korean), ("en", .english),
            ("en-GB-oxendict", .english), ("fr", nil), ("kor", nil), ("", nil), ("-ko", nil), ("ko-", nil),
            ("ko_KR", nil), ("ko-KR!", nil), ("ko-abcdefghi", nil), ("ko-한국", nil), ("*", nil),
        ] as [(String, Language?)]
    )
    func `a language tag selects its language`(tag: String, language: Language?) {
        #expect(Language.builtIn.language(for: tag) == language)
    }

    @Test(
        arguments: [
            ("pt", "pt"), ("pt-PT", "pt"), ("pt-BR", "pt-BR"), ("PT-br-x-a", "pt-BR"), ("zh-Hant-TW", "zh-Hant"),
            ("zh-Hant-u-co-pinyin", "zh-Hant"), ("zh", nil), ("zh-TW", nil),
        ] as [(String, String?)]
    )
    func `a tag selects the language that shares most of its subtags`(tag: String, found: String?) throws {
        let texts = ["pt", "pt-BR", "zh-Hant"].map { "  \($0): {name: x}\n" }.joined()
        let languages = try TextsFile("languages:\n\(texts)", file: "texts.yaml").languages
        #expect(languages.language(for: tag)?.tag == found)
        #expect(Language.negotiated("\(tag), en;q=0.5", among: languages).tag == found ?? "en")
    }

    @Test(
        arguments: [
            ("ko", .korean), ("ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7", .korean), ("en-GB, ko;q=0.5", .english),
            ("en;q=0.5, ko", .korean), ("en;q=0.50,ko;q=0.501", .korean), ("fr, de;q=0.9, ko;q=0.1", .korean),
            ("ko,en", .korean), ("en,ko", .english), ("ko;q=1.000", .korean), (" ko\t; Q=0.3 ", .korean),
            ("fr;q=0.3,ko-KR ;q=0.2", .korean), (",,ko,,", .korean),
        ] as [(String, Language)]
    )
    func `the supported language with the highest quality wins`(field: String, language: Language) {
        #expect(Language.negotiated(field, among: Language.builtIn) == language)
    }

    @Test(arguments: [nil, "", "fr", "*", "fr, *;q=0.1", "*;q=0", "!!!", ";q=1", "fr;q=0.5,,,;"])
    func `the default language is used if no supported language is requested`(field: String?) {
        #expect(Language.negotiated(field, among: Language.builtIn) == .english)
        #expect(Language.negotiated(field, among: [.korean, .english]) == .korean)
    }

    @Test(
        arguments: [
            ("en;q=0", .korean), ("en;q=0, *", .korean), ("ko;q=0.1, *;q=0", .korean),
            ("en;q=0.000,ko;q=0.001", .korean), ("en-US,en;q=0", .korean), ("ko;q=0,en;q=0", .english),
            ("en-GB;q=0,en", .english), ("en;q=0.1,*;q=0.2", .korean),
        ] as [(String, Language)]
    )
    func `quality zero excludes a language, and a star stands for all others`(field: String, language: Language) {
        #expect(Language.negotiated(field, among: Language.builtIn) == language)
    }

    @Test(arguments: [
        "ko;q=", "ko;q=2", "ko;q=1.001", "ko;q=0.1234", "ko;q=.5", "ko;q=-1", "ko;q=0x1", "ko;level=1",
        "ko;q=0.5;q=1", "k o", "ko;q=٠",
    ])
    func `a malformed part is ignored`(part: String) {
        #expect(Language.negotiated("\(part), en;q=0.001", among: Language.builtIn) == .english)
    }

    @Test func `a header longer than 8 KiB is ignored`() {
        let padding = String(repeating: "x", count: 8189)
        #expect(Language.negotiated("ko," + padding, among: Language.builtIn) == .korean)
        #expect(Language.negotiated("ko,," + padding, among: Language.builtIn) == .english)
    }

    @Test func `only the first 32 parts are considered`() {
        let padding = String(repeating: "fr,", count: 31)
        #expect(Language.negotiated(padding + "ko", among: Language.builtIn) == .korean)
        #expect(Language.negotiated(padding + "fr,ko", among: Language.builtIn) == .english)
    }

    @Test(arguments: ["ko", "ko, en;q=0.5", "*", nil])
    func `a language that the flow does not offer is never chosen`(field: String?) {
        #expect(Language.negotiated(field, among: [.english]) == .english)
        #expect(Language.negotiated("en", among: [.korean]) == .korean)
    }
}
