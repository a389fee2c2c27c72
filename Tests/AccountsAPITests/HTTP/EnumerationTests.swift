import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Address enumeration", .freshDatabase)
struct EnumerationTests {
    /// Addresses of the same length, so that the responses must have the same length, too.
    private static let (new, registered, pending) = ("ann@example.com", "kim@example.com", "lee@example.com")

    /// The parts of a response that an observer can compare: everything except ids and times.
    private struct Observation: Equatable {
        let status: Int
        let headers: [String]
        let length: Int
        let members: [String]
    }

    private func observe(_ response: Response) -> Observation {
        // A second may pass between two compared responses.
        let variable: Set<HTTPField.Name> = [.requestID, .date, .retryAfter, .rateLimit]
        let headers = response.headers.map { variable.contains($0.name) ? "\($0.name)" : "\($0.name): \($0.value)" }
        let variableMembers: Set<String> = [
            "id", "request_id", "expires_at", "expires_in", "code_expires_at", "server_time", "resend_after",
            "message",
        ]
        var members: [String] = []
        if case .object(let all) = response.json {
            members = all.map { variableMembers.contains($0.name) ? $0.name : "\($0.name): \($0.value.text)" }
        }
        return Observation(
            status: response.status,
            headers: headers.sorted(),
            // The message says how long to wait.
            length: response.body.utf8.count - (response.json["message"]?.string?.utf8.count ?? 0),
            members: members.map { $0.replacing(/(ann|kim|lee)@/, with: "…@") }
        )
    }

    /// Sends the same request for each address, and returns the observations.
    private func observeEach(_ send: (Visitor, _ address: String) async throws -> Response, _ people: [String: Visitor])
        async throws
        -> [Observation]
    {
        var observations: [Observation] = []
        for (address, person) in people.sorted(by: { $0.key < $1.key }) {
            observations.append(observe(try await send(person, address)))
        }
        return observations
    }

    @Test(arguments: [false, true])
    func `the responses are the same for new, registered and pending addresses, also while mail is refused`(
        isRefused: Bool
    ) async throws {
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
            let step: (Visitor, String) async throws -> Response = { try await $0.put("email", ["email": .string($1)]) }
            let check: (Visitor, String) async throws -> Response = {
                try await $0.send(.post, "/signup/email/check", ["email": .string($1)])
            }
            let resend: (Visitor, String) async throws -> Response = { person, _ in
                try await person.send(.post, "/signup/code/resend")
            }
            let wrong: (Visitor, String) async throws -> Response = { person, _ in
                // The probability that this code is right is one in a million.
                try await person.put("code", ["code": "000000"])
            }
            let read: (Visitor, String) async throws -> Response = { person, _ in
                try await person.send(.get, "/signup/code")
            }
            let requests = [
                ("check", 200, check), ("step", 200, step), ("too soon", 429, resend), ("wrong", 422, wrong),
                ("read", 200, read),
            ]
            for (name, status, send) in requests {
                let observations = try await observeEach(send, people)
                #expect(observations[0].status == status, "\(name)")
                #expect(observations[1] == observations[0] && observations[2] == observations[0], "\(name)")
                try await site.service.deliver()
            }
            try DatabaseSession().letPass("1 minute")
            let observations = try await observeEach(resend, people)
            #expect(observations[0].status == 202)
            #expect(observations[1] == observations[0] && observations[2] == observations[0])
        }
    }

    @Test(arguments: [("en", "You already have an account at Acme"), ("ko", "이미 Acme 계정이 있습니다")])
    func `a sign-up with a registered address mails its owner the link to the page that signs in`(
        language: String,
        subject: String
    ) async throws {
        try await TestServer.with { site in
            try await site.readyAccount(Self.registered)
            let stranger = site.visitor()
            try await stranger.start(locale: language)
            #expect(try await stranger.put("email", ["email": .string(Self.registered)]).status == 200)
            try await site.service.deliver()
            let mail = try #require(site.service.mailbox.mails.last)
            #expect(mail.to == Self.registered && mail.subject == subject)
            let links = mail.text.split(separator: "\n").filter { $0.contains("://") }
            #expect(links == ["http://localhost:8080/sign-in"], "no other link")
            #expect(Mailbox.code(in: mail.text) == nil)
            let page = try await PageVisitor(site).open("/sign-in")
            #expect(page.status == 200 && page.has("action=\"/sign-in\""))
        }
    }

    @Test(arguments: [false, true])
    func `a stranger's draft does not reveal that the owner of its address creates an account`(isDelivered: Bool)
        async throws
    {
        try await TestServer.with { site in
            // The address of one draft becomes an account, and that of the other does not.
            let people = [Self.pending: site.visitor(), Self.new: site.visitor()]
            for (address, stranger) in people {
                try await stranger.start()
                try await stranger.put("email", ["email": .string(address)])
            }
            if isDelivered { try await site.service.deliver() }
            let reads = ["/signup", "/signup/email", "/signup/code"]
            func bodies() async throws -> [String] {
                let stranger = try #require(people[Self.pending])
                var bodies: [String] = []
                for path in reads {
                    let response = try await stranger.send(.get, path)
                    bodies.append(
                        "\(response.status) \(response.headers[.eTag] ?? "") "
                            + response.body.replacing(
                                #/"(expires_in|resend_after)":[0-9]+|"server_time":"[^"]*"/#,
                                with: ""
                            )
                    )
                }
                return bodies
            }
            let before = try await bodies()
            let owner = site.visitor()
            try await owner.start()
            try await owner.fill(email: Self.pending)
            #expect(try await owner.commit().status == 201)
            #expect(try await bodies() == before)
            try await site.service.deliver()

            func expectEqual(_ send: (Visitor, String) async throws -> Response, _ status: Int) async throws {
                let observations = try await observeEach(send, people)
                #expect(observations.count == 2 && observations.allSatisfy { $0 == observations.first })
                #expect(observations.first?.status == status)
            }
            try await expectEqual({ person, _ in try await person.put("code", ["code": "000000"]) }, 422)
            try await expectEqual({ person, _ in try await person.send(.get, "/signup/code") }, 200)
            try await expectEqual({ person, _ in try await person.commit() }, 409)
            try DatabaseSession().letPass("1 minute")
            try await expectEqual({ person, _ in try await person.send(.post, "/signup/code/resend") }, 202)
            try await expectEqual({ try await $0.put("email", ["email": .string($1)]) }, 200)
            try await expectEqual({ person, _ in try await person.send(.delete, "/signup") }, 204)
        }
    }
}
