import TestSupport
import Testing

@testable import Accounts

@Suite("A confirmation field")
struct ConfirmationFieldTests {
    let confirmation: AskedField

    init() throws {
        confirmation = try AskedField([
            "name: password, kind: password", "name: confirmation, kind: confirmation, confirms: password",
        ])
    }

    private func refusals(_ repeated: FieldAnswer, of password: FieldAnswer?) -> [Refusal] {
        var confirmation = confirmation
        confirmation.context.answers = Answers(password.map { [.init("password", $0)] } ?? [])
        return confirmation.refusals(repeated)
    }

    private static let good = "vx7 kiwi umbrella"
    private static let mismatch = [Refusal("confirmation", .mismatch)]

    @Test(arguments: [
        (good, good), ("vx7\u{3000}kiwi umbrella", good), ("passe\u{301} vx7 kiwi umb", "pass\u{E9} vx7 kiwi umb"),
        (" \(good) ", " \(good) "), ("short", "short"),
    ])
    func `a password with the same canonical form matches`(password: String, repeated: String) {
        #expect(refusals(.typed(repeated), of: .typed(password)).isEmpty)
        #expect(refusals(.typed(password), of: .typed(repeated)).isEmpty)
    }

    @Test(arguments: [
        "", " ", "VX7 KIWI UMBRELLA", "vx7 kiwi umbrella ", "vx7 kiwi umbrell", "vx7 kiwi umbrella\n",
        "vx7 kiwi umbrellа",
        "\u{202E}" + good,
    ])
    func `a different password is a mismatch`(repeated: String) {
        #expect(refusals(.typed(repeated), of: .typed(Self.good)) == Self.mismatch)
    }

    @Test func `a confirmation without a password is a mismatch`() {
        #expect(refusals(.typed(Self.good), of: nil) == Self.mismatch)
        #expect(refusals(.typed(Self.good), of: .string(Self.good)) == Self.mismatch)
    }

    @Test func `an invalid password is refused in its own field only`() {
        #expect(refusals(.typed("a\0b"), of: .typed("a\0b")).isEmpty)
        #expect(refusals(.typed("anything"), of: .typed("a\0b")).isEmpty)
    }

    @Test(arguments: [.string(good), 1, true, nil, [.string(good)], ["confirmation": .string(good)]] as [FieldAnswer])
    func `a confirmation that is not read as a secret is refused`(answer: FieldAnswer) {
        #expect(
            refusals(answer, of: .typed(Self.good)) == [Refusal("confirmation", .wrongType, ["expected": "string"])]
        )
    }

    @Test(arguments: HostileText.all)
    func `a 64 KiB text is refused`(hostile: HostileText) {
        #expect(refusals(.typed(hostile.text), of: .typed(Self.good)) == Self.mismatch)
    }

    @Test func `a confirmation is valid if a password is stored, and is never stored itself`() throws {
        var confirmation = confirmation
        #expect(!confirmation.holds(nil))
        #expect(!confirmation.holds("anything"))
        let hash: JSON =
            "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
        confirmation.context.put(["phc": hash], in: "password")
        #expect(confirmation.holds(nil))
        confirmation.context.answers = ["password": .typed(Self.good)]
        #expect(confirmation.refusals(.typed(Self.good)).isEmpty)
        #expect(confirmation.field.kind.keepsNothing)
        #expect(confirmation.field.kind.rules(in: .english) == [.init("confirms", "password")])
    }
}
