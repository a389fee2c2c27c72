import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("What answers tell of an address", .freshDatabase)
struct EnumerationTests {
    /// Of one length, so that the answers have to be too.
    private static let (new, registered, pending) = ("ann@example.com", "kim@example.com", "lee@example.com")

    /// Everything that an observer can compare, but the ids and the instants.
    private struct Sight: Equatable {
        let status: Int
        let headers: [String]
        let length: Int
        let members: [String]
    }

    private func look(_ answer: Answer) -> Sight {
        // A second may pass between two that are compared.
        let passing: Set<HTTPField.Name> = [.requestID, .date, .retryAfter, .rateLimit]
        let headers = answer.headers.map { passing.contains($0.name) ? "\($0.name)" : "\($0.name): \($0.value)" }
        let passingMembers: Set<String> = [
            "id", "request_id", "expires_at", "expires_in", "code_expires_at", "server_time", "resend_after",
        ]
        var members: [String] = []
        if case .object(let all) = answer.json {
            members = all.map { passingMembers.contains($0.name) ? $0.name : "\($0.name): \($0.value.text)" }
        }
        return Sight(
            status: answer.status,
            headers: headers.sorted(),
            length: answer.body.utf8.count,
            members: members.map { $0.replacing(/(ann|kim|lee)@/, with: "…@") }
        )
    }

    /// Asks the same for each address, and gives back what was seen of each.
    private func compare(_ ask: (Visitor, _ address: String) async throws -> Answer, _ people: [String: Visitor])
        async throws
        -> [Sight]
    {
        var sights: [Sight] = []
        for (address, person) in people.sorted(by: { $0.key < $1.key }) {
            sights.append(look(try await ask(person, address)))
        }
        return sights
    }

    @Test(arguments: [false, true])
    func `the answers are the same, whoever has the address, also where mail is refused`(isRefused: Bool) async throws {
        try await TestServer.with { site in
            let owner = site.visitor()
            try await owner.start()
            try await owner.fill(email: Self.registered)
            #expect(try await owner.commit().status == 201)
            let other = site.visitor()
            try await other.start()
            try await other.fill(through: "email", email: Self.pending)
            if isRefused { site.service.mailbox.refuse(with: .temporary(reply: 451, reason: "not now")) }

            var people: [String: Visitor] = [:]
            for address in [Self.new, Self.registered, Self.pending] {
                people[address] = site.visitor()
                try await people[address]?.start()
            }
            let step: (Visitor, String) async throws -> Answer = { try await $0.put("email", ["email": .string($1)]) }
            let check: (Visitor, String) async throws -> Answer = {
                try await $0.send(.post, "/signup/email/check", ["email": .string($1)])
            }
            let resend: (Visitor, String) async throws -> Answer = { person, _ in
                try await person.send(.post, "/signup/code/resend")
            }
            let wrong: (Visitor, String) async throws -> Answer = { person, _ in
                // No address's code, but by a chance of one in a million.
                try await person.put("code", ["code": "000000"])
            }
            let look: (Visitor, String) async throws -> Answer = { person, _ in
                try await person.send(.get, "/signup/code")
            }
            let questions = [
                ("check", 200, check), ("step", 200, step), ("too soon", 429, resend), ("wrong", 422, wrong),
                ("look", 200, look),
            ]
            for (name, status, ask) in questions {
                let sights = try await compare(ask, people)
                #expect(sights[0].status == status, "\(name)")
                #expect(sights[1] == sights[0] && sights[2] == sights[0], "\(name)")
                try await site.service.deliver()
            }
            try TestSupport.Session().letPass("1 minute")
            let sights = try await compare(resend, people)
            #expect(sights[0].status == 202 && sights[1] == sights[0] && sights[2] == sights[0])
        }
    }
}
