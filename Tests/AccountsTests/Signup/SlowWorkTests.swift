import Foundation
import TestSupport
import Testing

@testable import Accounts

/// A request that is refused must cost neither a hash nor a decoded image, and the hashes of a draft and of a network are
/// limited.
@Suite("Slow work of a submission", .freshDatabase, .timeLimit(.minutes(30)))
struct SlowWorkTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    /// A hashing pool that counts its hashes.
    private struct CountingPool: ~Copyable {
        private let metrics = Metrics()
        let pool: HashingPool

        init() throws {
            pool = try HashingPool(
                parameters: Argon2Parameters(memoryKiB: 7168, iterations: 5),
                workers: 1,
                queue: 64,
                metrics: metrics
            )
        }

        deinit {
            pool.shutdown()
        }

        var hashes: Int {
            Int(metrics.hashes.family.samples.filter { $0.suffix == "_count" }.reduce(0) { $0 + $1.value })
        }
    }

    private func limits(_ name: Limits.Name, _ count: Int) -> Limits {
        var limits = Limits.lavish
        limits.byName[name] = Limit(count, per: .seconds(3600))
        return limits
    }

    private func submit(_ answers: Answers, to step: StepName, of draft: Draft, on service: TestSignups) async -> String
    {
        await outcome { try await service.submit(answers, to: step, of: draft) }
    }

    private static func password(_ text: String) -> Answers {
        ["password": .password(text), "confirmation": .password(text)]
    }

    @Test func `an address whose mail is refused costs no hash`() async throws {
        let counting = try CountingPool()
        try await TestSignups.with(hashing: counting.pool, limits: limits(.mailsFromNetwork, 1)) { service in
            let draft = try await service.fill(service.start(), through: "password")
            let before = counting.hashes
            for number in 1...100 {
                // The local part is long enough to be the password, so it would be compared with the hash.
                let answers: Answers = ["email": .string("a.long.local.part.\(number)@example.com")]
                #expect(await submit(answers, to: "email", of: draft, on: service) == "too many: mails_from_network")
            }
            #expect(counting.hashes == before)
        }
    }

    @Test func `a taken username costs no hash, and counts as a check`() async throws {
        let counting = try CountingPool()
        try await TestSignups.with(hashing: counting.pool, limits: limits(.usernameChecks, 50)) { service in
            let name = "a-name-of-21-letters"
            _ = try await service.fill(service.start(), through: "profile", email: "lee@example.com", username: name)
            let draft = try await service.fill(service.start(), through: "password")
            let before = counting.hashes
            for number in 1...60 {
                let expected = number <= 50 ? "refused: username taken" : "too many: username_checks"
                #expect(
                    await submit(["username": .string(name)], to: "profile", of: draft, on: service) == expected
                )
            }
            #expect(counting.hashes == before)
        }
    }

    @Test func `a free username is compared with the password once, and counts once`() async throws {
        let counting = try CountingPool()
        try await TestSignups.with(hashing: counting.pool, limits: limits(.usernameChecks, 1)) { service in
            let draft = try await service.fill(service.start(), through: "password")
            let before = counting.hashes
            let named = try await service.submit(["username": "a-name-of-21-letters"], to: "profile", of: draft)
            #expect(counting.hashes == before + 1)
            #expect(named.values.json(of: "username") == "a-name-of-21-letters")
            #expect(
                await submit(["username": "another-name-of-24-letters"], to: "profile", of: named, on: service)
                    == "too many: username_checks"
            )
            #expect(counting.hashes == before + 1)
        }
    }

    @Test func `the hashes of a draft are limited before they are computed`() async throws {
        let counting = try CountingPool()
        try await TestSignups.with(hashing: counting.pool, limits: limits(.passwordHashes, 2)) { service in
            var draft = try await service.fill(service.start(), through: "password")
            draft = try await service.submit(Self.password("a second pass phrase"), to: "password", of: draft)
            let before = counting.hashes
            #expect(
                await submit(Self.password("a third pass phrase"), to: "password", of: draft, on: service)
                    == "too many: password_hashes"
            )
            #expect(
                await submit(["username": "a-name-of-21-letters"], to: "profile", of: draft, on: service)
                    == "too many: password_hashes"
            )
            #expect(counting.hashes == before)
            // A name that is too short for a password is not compared with the hash.
            draft = try await service.submit(["username": "kim"], to: "profile", of: draft)
            try session.letPass("1 hour")
            _ = try await service.submit(Self.password("a third pass phrase"), to: "password", of: draft)
            #expect(counting.hashes == before + 1)
        }
    }

    @Test func `the hashes of a network are limited over all its drafts`() async throws {
        let counting = try CountingPool()
        try await TestSignups.with(hashing: counting.pool, limits: limits(.passwordHashesFromNetwork, 1)) { service in
            _ = try await service.fill(service.start(), through: "password")
            let other = try await service.fill(service.start(), through: "code", email: "lee@example.com")
            #expect(
                await submit(Self.password("a second pass phrase"), to: "password", of: other, on: service)
                    == "too many: password_hashes_from_network"
            )
            #expect(counting.hashes == 1)
            let elsewhere = service.signups.from(Network(try #require(IPAddress("192.0.2.1"))))
            let step = try #require(service.signups.flow.step(named: "password"))
            let answers = Self.password("a second pass phrase")
            #expect(await outcome { try await elsewhere.submit(answers, to: step, of: other) } == "done")
        }
    }

    @Test func `a password that is rejected as busy counts against no limit`() async throws {
        let full = try HashingPool(workers: 0, queue: 0)
        try await TestSignups.with(hashing: full, limits: limits(.passwordHashes, 1)) { service in
            let draft = try await service.fill(service.start(), through: "code")
            for _ in 1...3 {
                let result = await submit(Self.password("a second pass phrase"), to: "password", of: draft, on: service)
                #expect(result != "done" && !result.hasPrefix("too many"))
            }
            let counted = try session.number(of: "limits")
            _ = await submit(Self.password("a second pass phrase"), to: "password", of: draft, on: service)
            #expect(try session.number(of: "limits") == counted)
        }
    }

    @Test func `an image of a refused step is neither decoded nor counted`() async throws {
        try await TestSignups.with(limits: limits(.images, 1)) { service in
            let draft = try await service.fill(service.start(), through: "password")
            let image = FieldAnswer.file(UploadedFile(try .onFile("plain.png")))
            for _ in 1...3 {
                #expect(
                    await submit(["photo": image], to: "profile", of: draft, on: service)
                        == "refused: username required"
                )
            }
            #expect(await submit(["username": "kim", "photo": image], to: "profile", of: draft, on: service) == "done")
        }
    }

    @Test func `a password in a step with a broken image costs no hash`() async throws {
        let counting = try CountingPool()
        let flow = """
            flow: test
            version: 1
            steps:
              - name: all
                title: {en: All}
                fields:
                  - {name: name, kind: username, identifier: true, label: {en: Name}}
                  - {name: password, kind: password, label: {en: Password}}
                  - {name: photo, kind: image, required: false, label: {en: Photo}}
            """
        try await TestSignups.with(flow: flow, hashing: counting.pool) { service in
            let broken = FieldAnswer.file(UploadedFile(Array("no image".utf8)))
            let answers: Answers = ["name": "kim", "password": .password("a pass phrase of mine"), "photo": broken]
            let before = counting.hashes
            let outcome = await submit(answers, to: "all", of: try await service.start(), on: service)
            #expect(outcome.hasPrefix("refused: photo") && counting.hashes == before)
        }
    }

    @Test func `the check of rate limits before slow work gives the same refusal as the write`() throws {
        let arguments = "(ARRAY['\\x01', '\\x02']::bytea[], '{1, 2}'::bigint[], '{60, 3600}'::bigint[])"
        let (peek, take) = (
            SQL(stringLiteral: "SELECT number, wait FROM exceeded_limit\(arguments)"),
            SQL(stringLiteral: "SELECT number, wait FROM take_from_limits\(arguments)")
        )
        #expect(try session.query(peek).isEmpty && session.query(peek).isEmpty)
        #expect(try session.number(of: "limits") == 0)
        #expect(try session.query(take).isEmpty)
        // Both statements run in one transaction, because the wait depends on the time of the transaction.
        try session.run("BEGIN")
        let predicted = try session.query(peek).only.decode(Int.self, Int.self)
        let refused = try session.query(take).only.decode(Int.self, Int.self)
        try session.run("COMMIT")
        #expect(predicted == refused && refused.0 == 1)
    }
}
