import Testing

@testable import Accounts

@Suite("A password field")
struct PasswordFieldTests {
    let password: AskedField

    init() throws {
        password = try AskedField(
            ["name: email, kind: email"],
            ["name: username, kind: username"],
            ["name: password, kind: password"]
        )
    }

    private static let good = "vx7 kiwi umbrella"

    private func bytes(_ input: any Sendable) throws -> [UInt8] {
        guard let shared = input as? SharedSecret else {
            Issue.record("the parsed password is not a SharedSecret")
            return []
        }
        return shared.secret.withBytes { Array($0) }
    }

    @Test(arguments: [
        (good, good), (" \(good) ", " \(good) "), ("vx7\u{3000}kiwi\u{A0}umbrella", good),
        ("Cafe\u{301} umbrella 9", "Caf\u{E9} umbrella 9"),
        ("\u{1112}\u{1161}\u{11AB}국 vx7 kiwi umb", "한국 vx7 kiwi umb"),
    ])
    func `a password is brought into its canonical form`(typed: String, form: String) throws {
        let once = try #require(password.parse(.typed(typed)) as? SharedSecret)
        #expect(try bytes(once) == Array(form.utf8))
        #expect(try bytes(password.parse(.secret(once))) == Array(form.utf8))
    }

    @Test func `the length is counted in code points, from 15 to 256`() {
        func refusal(_ length: Int) -> [Refusal] {
            password.refusals(.typed("한🦊x" + String(repeating: "qv", count: 128).prefix(length - 3)))
        }
        #expect(refusal(14) == [Refusal("password", .tooShort, ["min": 15, "actual": 14])])
        #expect(refusal(15).isEmpty)
        #expect(refusal(256).isEmpty)
        #expect(refusal(257) == [Refusal("password", .tooLong, ["max": 256, "actual": 257])])
    }

    @Test func `the flow may set a longer minimum and a shorter maximum`() throws {
        let long = try AskedField(["name: password, kind: password, min: 20, max: 64"])
        #expect(!long.refusals(.typed("vx7 kiwi umbrella 1")).isEmpty)
        #expect(long.refusals(.typed("vx7 kiwi umbrella 12")).isEmpty)
        #expect(long.refusals(.typed("vx7 kiwi umbrella 12" + String(repeating: "qv", count: 22))).isEmpty)
        #expect(!long.refusals(.typed("vx7 kiwi umbrella 12" + String(repeating: "qv", count: 22) + "x")).isEmpty)
        #expect(long.field.kind.rules(in: .english) == [.init("min", 20), .init("max", 64)])
        #expect(password.field.kind.rules(in: .english) == [.init("min", 15), .init("max", 256)])
    }

    @Test(arguments: ["min: 7", "min: 65", "max: 63", "max: 257", "min: many"])
    func `length rules out of bounds are refused`(rule: String) {
        #expect(throws: YAMLFileError.self) { try AskedField(["name: password, kind: password, \(rule)"]) }
    }

    @Test(arguments: [
        "kim.minseo.1990@mail.example", "Kim.Minseo.1990@Mail.Example", "KIM.MINSEO.1990", "minseo-of-the-hill",
        "GROSSE ANMELDUNG",
    ])
    func `a password that equals an identifier or the service name is refused`(typed: String) {
        var password = password
        password.context = password.context.with(
            values: Values(["email": "kim.minseo.1990@mail.example", "username": "minseo-of-the-hill"])
        )
        #expect(password.refusals(.typed(typed)) == [Refusal("password", .containsIdentifier)])
        password.context.values = Values()
        #expect(password.refusals(.typed(typed)).isEmpty == (typed != "GROSSE ANMELDUNG"))
    }

    @Test func `all refusals are reported together`() {
        #expect(password.refusals(.typed("password")).map(\.code) == [.tooShort, .common])
    }

    @Test func `a missing answer is refused as required`() {
        #expect(password.refusals(.typed("")) == [Refusal("password", .required)])
    }

    @Test(arguments: [.string(good), "", 15, true, nil, [.string(good)], ["password": .string(good)]] as [JSON])
    func `a password that is not read as a secret is refused`(answer: JSON) {
        #expect(password.refusals(answer) == [Refusal("password", .wrongType, ["expected": "string"])])
    }

    @Test(arguments: HostileText.all)
    func `a 64 KiB text is refused`(hostile: HostileText) {
        #expect(password.refusals(.typed(hostile.text)) == [Refusal("password", .tooLong, ["max": 256])])
    }

    @Test(arguments: ["\0", "\n", "\u{7F}", "\u{202E}", "\u{2069}", "\u{FFFF}"])
    func `control characters, bidirectional overrides and noncharacters are refused`(character: String) {
        #expect(password.refusals(.typed(Self.good + character)) == [Refusal("password", .badCharacters)])
    }

    private static func hash(_ costs: String) -> String {
        "$argon2id$v=19$\(costs)$c29tZXNhbHRzb21lc2FsdA$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
    }

    @Test(arguments: ["m=19456,t=2,p=1", "m=47104,t=1,p=1", "m=65536,t=3,p=1"])
    func `a stored hash that meets the floor is valid`(costs: String) {
        #expect(password.holds(["phc": .string(Self.hash(costs))]))
    }

    @Test func `a hash is invalid if its password had to meet a lower minimum length than the current one`() throws {
        let hash = JSON.string(Self.hash("m=19456,t=2,p=1"))
        #expect(!password.holds(["phc": hash, "min": 8]) && password.holds(["phc": hash, "min": 16]))
        let phc = try PHCString(Self.hash("m=19456,t=2,p=1"))
        let short = try AskedField(["name: password, kind: password, min: 20"])
        let kept = PasswordHash(phc: phc, minimum: 20).json
        #expect(kept == ["phc": hash, "min": 20])
        #expect(short.holds(kept) && !short.holds(["phc": hash]))
        #expect(PasswordHash(phc: phc, minimum: 15).json == ["phc": hash])
    }

    @Test(
        arguments: [
            nil, "", .string(good), .string(hash("m=19456,t=2,p=1")), ["phc": .string(hash("m=19455,t=2,p=1"))],
            ["phc": .string(hash("m=19456,t=1,p=1"))], ["phc": .string(hash("m=64,t=1,p=1"))],
            ["phc": .string(hash("m=19456,t=2,p=1") + "=")], true, ["set": true],
        ] as [JSON?]
    )
    func `any other stored value is invalid`(stored: JSON?) {
        #expect(!password.holds(stored))
    }

    @Test(arguments: [DisplayContext.draft, .step, .review])
    func `a password is never shown`(place: DisplayContext) {
        let hash: JSON = ["phc": .string(Self.hash("m=19456,t=2,p=1"))]
        #expect(password.shown(hash, at: place) == ["set": true])
    }
}
