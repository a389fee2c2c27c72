import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Starting a sign-up", .freshDatabase, .timeLimit(.minutes(30)))
struct StartTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `a new draft is empty, is at the first step, and expires after a day`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.start()
            #expect(draft.revision == 1)
            #expect(draft.flow == "default@1")
            #expect(draft.values == Values())
            #expect(draft.proofs.isEmpty)
            #expect(draft.account == nil)
            #expect(service.signups.progress(of: draft).next?.name == "email")
            #expect(draft.expiresAt.timeIntervalSince(draft.now) == 86_400)
        }
    }

    @Test(arguments: Language.builtIn)
    func `a draft keeps the language in which it was started`(language: Language) async throws {
        try await TestSignups.with { service in
            let (draft, token) = try await service.signups.start(in: language)
            #expect(draft.language == language)
            #expect(try await service.signups.find(token).language == language)
        }
    }

    @Test func `every draft has a unique id and a unique token`() async throws {
        try await TestSignups.with { service in
            let drafts = try await atOnce(50) { _ in try await service.signups.start(in: .english) }
            #expect(Set(drafts.map(\.draft.id)).count == 50)
            #expect(Set(drafts.map(\.token.text)).count == 50)
            for (draft, token) in drafts {
                #expect(try await service.signups.find(token).id == draft.id)
            }
        }
    }

    @Test func `the database contains the hash of the token, but not the token`() async throws {
        try await TestSignups.with { service in
            let token = try await service.signups.start(in: .english).token
            let base64 = token.text.replacing("-", with: "+").replacing("_", with: "/")
            let secret = try #require(Data(base64Encoded: base64)).dropFirst(16)
            #expect(secret.count == 32)
            let dump = try session.dump()
            #expect(dump.contains(hex(token.hash)))
            #expect(!dump.contains(hex(Array(secret))))
            #expect(!dump.contains(token.text))
        }
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }
}
