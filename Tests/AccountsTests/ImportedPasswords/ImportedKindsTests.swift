import TestSupport
import Testing

@testable import Accounts

@Suite("The time of imported passwords", .freshDatabase, .timeLimit(.minutes(30)))
struct ImportedKindsTests {
    private func line(_ name: String, _ tool: String) throws -> [UInt8] {
        let hash = try #require(HashOfOtherTool.all.first { $0.tool.contains(tool) })
        return JSON.object([
            .init("username", .string(name)), .init("created_at", "2024-05-01T12:00:00Z"),
            .init("password_hash", .string(hash.text)),
        ]).bytes
    }

    @Test func `a failure takes at least as long as the check of the slowest kind of hash that is still stored`()
        async throws
    {
        try await TestSignups.with { service in
            let sessions = Sessions(signups: service.signups, failureTime: .zero)
            try await sessions.importedKinds.refresh()
            #expect(sessions.importedKinds.slowest == .zero)
            let importing = AccountImport(by: Operator(service.signups, name: "mina"), isTrial: false)
            let outcomes = try await importing.run([line("kim", "sha512_crypt"), line("lee", "mkpasswd bcrypt")])
            #expect(outcomes == [.imported, .imported])
            try await sessions.importedKinds.refresh()
            let slowest = sessions.importedKinds.slowest
            #expect(sessions.importedKinds.kinds.count == 2 && slowest > .zero)
            let start = ContinuousClock.now
            await #expect(throws: SignInError.self) {
                _ = try await sessions.signIn(
                    as: SignInIdentifier("nobody@example.com"),
                    with: SharedSecret(text: "a pass phrase of mine")
                )
            }
            #expect(ContinuousClock.now - start >= slowest)
            // At the deadline of the request, it ends as the slowest check would.
            await #expect {
                try await Deadline.$current.withValue(Deadline(in: .zero)) {
                    try await sessions.outlastSlowestCheck(since: .now)
                }
            } throws: { error in
                if case SignInError.hashing(.rejected(.busy)) = error { true } else { false }
            }
            try DatabaseSession().run("DELETE FROM accounts WHERE username = 'kim'")
            try await sessions.importedKinds.refresh()
            #expect(sessions.importedKinds.kinds.count == 1 && sessions.importedKinds.slowest > .zero)
        }
    }

    @Test(arguments: HashOfOtherTool.all)
    func `a check of every kind is measured with a salt that the kind accepts`(hash: HashOfOtherTool) throws {
        let imported = try ImportedHash(hash.text)
        let method = try #require(ImportedHash.method(of: imported.method.kind[...], salt: ImportedKinds.salt))
        let output = method.output(of: Secret(text: "a pass phrase of mine"))
        let isComputed = output != nil
        #expect(isComputed, "\(hash.tool)")
    }

    /// Otherwise an attacker who measures failures could learn which address somebody has just tried.
    @Test func `sign-ins do not change the time of a failure`() async throws {
        try await TestSignups.with { service in
            let sessions = Sessions(signups: service.signups, failureTime: .zero)
            let importing = AccountImport(by: Operator(service.signups, name: "mina"), isTrial: false)
            _ = try await importing.run([line("lee", "mkpasswd bcrypt")])
            try await sessions.importedKinds.refresh()
            let slowest = sessions.importedKinds.slowest
            for password in ["short", String(repeating: "long", count: 60), HashOfOtherTool.password] {
                for name in ["lee", "nobody"] {
                    _ = try? await sessions.signIn(as: SignInIdentifier(name), with: SharedSecret(text: password))
                }
            }
            #expect(sessions.importedKinds.slowest == slowest)
        }
    }
}
