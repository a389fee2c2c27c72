import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Beginning a sign-up", .freshDatabase, .timeLimit(.minutes(5)))
struct StartTests {
    private let session: Session

    init() throws {
        session = try Session()
    }

    @Test func `a draft begins empty, at the first step, with a day to go on`() async throws {
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

    @Test(arguments: Language.allCases)
    func `a draft keeps the language that it began in`(language: Language) async throws {
        try await TestSignups.with { service in
            let (draft, token) = try await service.signups.start(in: language)
            #expect(draft.language == language)
            #expect(try await service.signups.find(token).language == language)
        }
    }

    @Test func `every draft has an id and a token of its own`() async throws {
        try await TestSignups.with { service in
            let drafts = try await atOnce(50) { _ in try await service.signups.start(in: .english) }
            #expect(Set(drafts.map(\.draft.id)).count == 50)
            #expect(Set(drafts.map(\.token.text)).count == 50)
            for (draft, token) in drafts {
                #expect(try await service.signups.find(token).id == draft.id)
            }
        }
    }

    @Test func `the database holds a digest of the token and nothing else of it`() async throws {
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
