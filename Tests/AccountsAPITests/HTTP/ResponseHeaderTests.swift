import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("The headers of responses and the ids of requests", .freshDatabase)
struct ResponseHeaderTests {
    @Test func `every response has the security headers and a request id`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            var responses = [
                try await kim.start(), try await kim.send(.get, "/nothing"), try await kim.send(.patch, "/signup"),
            ]
            responses.append(try await kim.put("email", "{"))
            responses.append(try await kim.send(.get, "/health/live"))
            responses.append(try await kim.send(.delete, "/signup"))
            for response in responses {
                #expect(response.headers[.cacheControl] == "no-store")
                #expect(response.headers[.xContentTypeOptions] == "nosniff")
                #expect(response.headers[.referrerPolicy] == "no-referrer")
                #expect(response.headers[.requestID]?.isEmpty == false)
                #expect(response.headers[.server] == nil)
            }
            // A browser sends the origin of a form only if its page may send a referrer to the same origin.
            let page = try await site.send(.get, "/signup", [.accept: "text/html"])
            #expect(page.headers[.referrerPolicy] == "same-origin" && !page.body.contains("name=\"referrer\""))
        }
    }

    @Test(arguments: [
        ("a-good-request-id", true), ("short", false), ("with space in it", false), ("a\u{1B}[31mred", false),
    ])
    func `the request id of the client is used only if it is safe`(id: String, isUsed: Bool) async throws {
        try await TestServer.with { site in
            let response = try await site.visitor().send(.get, "/health/live", headers: [.requestID: id])
            #expect((response.headers[.requestID] == id) == isUsed)
        }
    }

    @Test(arguments: [
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true),
        ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes", true),
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", false),
        ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
        ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false),
        ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
        ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false), ("kim@example.com", false), ("", false),
    ])
    func `the log contains the trace id of a valid traceparent header`(parent: String, isUsed: Bool) async throws {
        try await TestServer.with { site in
            let headers: HTTPFields = [.traceParent: parent]
            let response = try await site.visitor().send(.get, "/health/live", headers: headers)
            #expect(response.status == 200)
            let line = site.log.lines.first { $0["message"] == "request" }
            #expect(line?["trace_id"] == (isUsed ? "0af7651916cd43dd8448eb211c80319c" : nil))
        }
    }
}
