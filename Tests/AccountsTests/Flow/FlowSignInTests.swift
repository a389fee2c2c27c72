import Testing

@testable import Accounts

@Suite("The sign-in rules of a flow file")
struct FlowSignInTests: FlowFileSuite {
    private static let address = "name: mail, kind: email, identifier: true"
    private static let code = "name: code, kind: code, proves: mail"
    private static let password = "name: password, kind: password"

    /// A flow file with these fields, one in each step, and more lines at its end.
    private static func flow(_ fields: [String], _ lines: String = "") -> String {
        let steps = fields.enumerated().map { number, field in
            "  - {name: s\(number), title: {en: Step}, fields: [{\(field), label: {en: Field}}]}"
        }
        return (["flow: test", "version: 1", "steps:"] + steps + [lines]).joined(separator: "\n")
    }

    @Test(
        arguments: [
            ([address, code, password], "", [.password]), ([address, code], "", [.code]),
            (["name: a, kind: text"], "", []),
            ([address, code, password], "sign_in: [code]", [.code]),
            ([address, code, password], "sign_in: [password, code]", [.password, .code]),
        ] as [([String], String, Set<SignInRules.Method>)]
    )
    func `the flow lists the methods to sign in; by default it is the password, or else a code`(
        fields: [String],
        lines: String,
        methods: Set<SignInRules.Method>
    ) throws {
        let rules = try Flow(yaml: Self.flow(fields, lines), file: "flow.yaml").signIn
        #expect(rules.methods == methods && rules.startsSessionAtCommit)
    }

    @Test(
        arguments: [
            ([address, code, password], "", true), ([address, code, password], "sign_in: [password, code]", true),
            ([address, code, password], "sign_in: [code]", false), ([address, code], "", false),
        ] as [([String], String, Bool)]
    )
    func `a recovery lets people sign in again if they sign in with a password`(
        fields: [String],
        lines: String,
        recovers: Bool
    ) throws {
        #expect(try Flow(yaml: Self.flow(fields, lines), file: "flow.yaml").recoversSignIn == recovers)
    }

    @Test(arguments: [
        ([address, code, password], "sign_in: []", "\"sign_in\" must be a list of password, code, each at most once"),
        (
            [address, code, password], "sign_in: code",
            "\"sign_in\" must be a list of password, code, each at most once"
        ),
        (
            [address, code, password], "sign_in: [sms]",
            "\"sign_in\" must be a list of password, code, each at most once"
        ),
        (
            [address, code, password], "sign_in: [code, code]",
            "\"sign_in\" must be a list of password, code, each at most once"
        ),
        (
            [address, code], "sign_in: [password]",
            "\"sign_in\" has password, so the flow needs a field of kind \"password\""
        ),
        ([password], "sign_in: [code]", "\"sign_in\" has code, so the flow needs an identifier of kind \"email\""),
        (
            [password], "after_commit: sign-in\nsign_in: [password]",
            "\"after_commit\" must be one of session, none, not \"sign-in\""
        ),
        ([password], "after_commit: sign-in", "\"after_commit\" must be one of session, none, not \"sign-in\""),
    ])
    func `sign-in rules that are malformed, or that lack a field of the flow, are refused`(
        fields: [String],
        lines: String,
        reason: String
    ) throws {
        let refusal = try #require(Self.refusal(of: Self.flow(fields, lines)))
        #expect(refusal == "flow.yaml:\(4 + fields.count): \(reason)")
    }

    @Test func `a flow can start no session after the commit`() throws {
        let flow = try Flow(yaml: Self.flow([Self.password], "after_commit: none"), file: "flow.yaml")
        #expect(!flow.signIn.startsSessionAtCommit)
    }
}
