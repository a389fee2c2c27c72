import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Sign-ins at the same time", .freshDatabase)
struct SignInRaceTests {
    /// Each sign-in replaces the hash, because its cost is lower than that of the service.
    @Test func `parallel sign-ins with an old hash are all accepted`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await site.weakenPassword()
            let statuses = try await atOnce(5) { _ in try await Browser(site).signIn().status }
            #expect(statuses == [201, 201, 201, 201, 201])
            #expect(try DatabaseSession().query("SELECT FROM sign_in_failures WHERE count > 0").isEmpty)
        }
    }

    @Test func `a confirmation at the same time is accepted, too`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await site.weakenPassword()
            let statuses = try await atOnce(4) { number in
                if number == 0 {
                    return try await kim.send(.put, "/session/confirm", ["password": "a pass phrase of mine"]).status
                }
                return try await Browser(site).signIn().status
            }
            #expect(statuses == [200, 201, 201, 201])
        }
    }

    @Test func `of several right factors for one sign-in at the same time, one is accepted`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let kim = Browser(site)
            _ = try await kim.signIn()
            let pending = try #require(kim["session"])
            let statuses = try await atOnce(4) { number in
                let browser = Browser(site)
                browser["session"] = pending
                let (path, code) = [("totp", person.code), ("recovery-code", person.recoveryCodes[number])][
                    min(number, 1)
                ]
                return try await browser.send(.put, "/session/\(path)", ["code": .string(code)]).status
            }
            #expect(statuses.filter { $0 == 200 }.count == 1)
            let sessions = try DatabaseSession().query("SELECT count(*) FROM sessions").only.decode(Int.self)
            #expect(sessions == 2, "one of the commit, one of the sign-in")
            let codes = try DatabaseSession().query("SELECT digest FROM recovery_codes").count
            #expect(codes == 10)
        }
    }

    @Test func `parallel confirmations do not exceed the maximum`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            let session = try #require(kim["session"])
            let statuses = try await atOnce(30) { _ in
                let browser = Browser(site)
                browser["session"] = session
                let code: JSON = ["recovery_code": .string(String(repeating: "a", count: 24))]
                return try await browser.send(.put, "/session/confirm", code).status
            }
            // A confirmation that was counted before the session ended can also get 401.
            #expect(statuses.filter { $0 == 422 }.count <= 10)
            #expect(statuses.allSatisfy { $0 == 422 || $0 == 401 })
        }
    }

    @Test func `a change of the password ends sign-ins at the same time`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let new: JSON = ["password": "another phrase of mine", "confirmation": "another phrase of mine"]
            _ = try await atOnce(6) { number in
                if number == 3 { return try await kim.send(.put, "/account/password", new).status }
                return try await Browser(site).signIn().status
            }
            let sessions = try DatabaseSession().query("SELECT count(*) FROM sessions").only.decode(Int.self)
            #expect(sessions == 1)
            #expect(try await kim.send(.get, "/session").status == 200)
        }
    }
}

extension TestServer {
    /// Replaces the hash by one of a lower cost, as if it had been made years ago.
    func weakenPassword() async throws {
        try await storePassword(iterations: 1, pepper: KeyRing(TestSignups.keys).pepper)
    }

    /// Replaces the hash by another one of the same password.
    func storePassword(iterations: Int = 5, pepper: Pepper?) async throws {
        let pool = try HashingPool(
            parameters: Argon2Parameters(memoryKiB: 7168, iterations: iterations),
            workers: 1,
            queue: 1
        )
        defer { pool.shutdown() }
        guard case .secret(let password) = FieldAnswer.password("a pass phrase of mine") else { throw Missing() }
        let old = try await pool.hash(password, pepper: pepper)
        try DatabaseSession().query("UPDATE credentials SET secret = \(old.rawValue)")
    }
}
