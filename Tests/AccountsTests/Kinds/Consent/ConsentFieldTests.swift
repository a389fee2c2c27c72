import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("A consent field")
struct ConsentFieldTests {
    static let rules = "name: terms, kind: consent, version: v1, document: {en: Do good., ko: 착하게 삽시다.}"
    static let english = "e9396d92e7f5a708402f5cd0d12653504bf235f9f9f98545aaa39fd5ffbed459"
    static let korean = "bf731767a32cb09082f1724e47d8c025a67f62086e600c4bb66380d6506964fb"

    let required: AskedField
    let optional: AskedField

    init() throws {
        required = try AskedField([Self.rules])
        optional = try AskedField([Self.rules + ", required: false"])
    }

    private static func given(
        _ isAccepted: Bool = true,
        version: String = "v1",
        digest: String = english,
        locale: String = "en"
    ) -> JSON {
        [
            "accepted": .bool(isAccepted), "version": .string(version), "sha256": .string(digest),
            "locale": .string(locale),
            "at": "2026-01-01T12:00:00Z",
        ]
    }

    @Test func `a stored consent has the version, the digest of the text, the language and the time`() throws {
        #expect(try required.canonical(true) == Self.given())
        var korean = required
        korean.context = korean.context.with(language: .korean)
        #expect(try korean.canonical(true) == Self.given(digest: Self.korean, locale: "ko"))
        #expect(try optional.canonical(false) == Self.given(false))
    }

    @Test func `a required consent must be given, and an optional one may be declined`() {
        #expect(required.refusals(true).isEmpty && optional.refusals(true).isEmpty && optional.refusals(false).isEmpty)
        #expect(required.refusals(false) == [Refusal("terms", .notAccepted)])
    }

    @Test(arguments: [true, false])
    func `an unchanged answer keeps its time and language`(isAccepted: Bool) throws {
        var consent = optional
        let first = try consent.canonical(.bool(isAccepted))
        #expect(consent.holds(first))
        consent.context.put(first, in: "terms")
        consent.context = consent.context.with(now: .at("2026-01-02T12:00:00Z"), language: .korean)
        #expect(try consent.canonical(.bool(isAccepted)) == first)
        let other = try consent.canonical(.bool(!isAccepted))
        #expect(
            other["at"] == "2026-01-02T12:00:00Z" && other["locale"] == "ko" && other["accepted"] == .bool(!isAccepted)
        )
    }

    @Test func `a new version needs a new consent`() throws {
        var consent = required
        consent.context.put(Self.given(version: "v0"), in: "terms")
        consent.context = consent.context.with(now: .at("2026-01-02T12:00:00Z"))
        let anew = try consent.canonical(true)
        #expect(anew["version"] == "v1" && anew["at"] == "2026-01-02T12:00:00Z")
        #expect(consent.holds(anew))
    }

    @Test func `a consent is valid in each language of the document`() {
        #expect(required.holds(Self.given()))
        #expect(required.holds(Self.given(digest: Self.korean, locale: "ko")))
        #expect(optional.holds(Self.given(false)))
    }

    @Test(
        arguments: [
            nil, true, [:], given(false), given(version: "v0"), given(digest: korean), given(locale: "ko"),
            given(locale: "fr"), given(digest: english.uppercased()), ["accepted": true], "v1",
        ] as [JSON?]
    )
    func `a consent to another text, or without a text, is invalid`(stored: JSON?) {
        #expect(!required.holds(stored))
    }

    @Test(
        arguments: [
            "", "true", "on", 1, 0, nil, .number(1), [true], ["accepted": true], .json(given()), .typed("true"),
        ]
            as [FieldAnswer]
    )
    func `an answer that is not a boolean is refused`(answer: FieldAnswer) {
        #expect(required.refusals(answer) == [Refusal("terms", .wrongType, ["expected": "boolean"])])
        #expect(optional.refusals(answer) == [Refusal("terms", .wrongType, ["expected": "boolean"])])
    }

    @Test(arguments: HostileText.all)
    func `a 64 KiB text is refused`(hostile: HostileText) {
        #expect(required.refusals(.string(hostile.text)) == [Refusal("terms", .wrongType, ["expected": "boolean"])])
        #expect(!required.holds(.string(hostile.text)))
        #expect(!required.holds(Self.given(version: hostile.text)))
    }

    @Test func `the review shows the complete record of a consent`() {
        let kind = required.field.kind
        #expect(kind.shown(json: Self.given(), at: .draft) == ["accepted": true, "version": "v1"])
        #expect(kind.shown(json: Self.given(), at: .review) == Self.given())
    }

    @Test func `the rules tell clients whether the consent is required`() {
        let published: [JSON.Member] = [
            .init("version", "v1"), .init("document", "Do good."), .init("sha256", .string(Self.english)),
        ]
        #expect(required.field.kind.rules(in: .english) == [.init("must_accept", true)] + published)
        #expect(optional.field.kind.rules(in: .english) == [.init("must_accept", false)] + published)
    }

    @Test(arguments: [
        "version: v1", "document: {en: x}", "version: v1, document: {}", "version: v1, document: {fr: x}",
    ])
    func `a consent without a version or a document is refused`(rules: String) {
        #expect(throws: YAMLFileError.self) { try AskedField(["name: terms, kind: consent, \(rules)"]) }
    }
}

@Suite("Blank answers")
struct BlankAnswerTests {
    @Test(arguments: [nil, "", [], .typed("")] as [FieldAnswer])
    func `null, an empty text and an empty list are blank`(answer: FieldAnswer) {
        #expect(answer.isBlank)
    }

    @Test(arguments: [" ", "\0", false, 0, .number(0), [nil], [:], .typed(" ")] as [FieldAnswer])
    func `any other answer is not blank`(answer: FieldAnswer) {
        #expect(!answer.isBlank)
    }
}
