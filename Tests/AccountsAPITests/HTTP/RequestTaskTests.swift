import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import accounts_api

@Suite("The task of a request")
struct RequestTaskTests {
    /// Answers a request with this handler in a task of its own.
    private func answer(
        _ handler: @escaping @Sendable () async throws -> HTTPResponse.Status
    ) async throws -> HummingbirdCore.Response {
        let responder = CallbackResponder<RequestScope> { _, _ in
            HummingbirdCore.Response(status: try await handler())
        }
        let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/signup")
        return try await RequestTask(responder: responder)
            .respond(
                to: Request(head: head, body: RequestBody(buffer: ByteBuffer())),
                context: RequestScope(source: .init(channel: EmbeddedChannel(), logger: .silent))
            )
    }

    @Test func `a request is handled in a task that ends with it, so its frames do not stay with the connection`()
        async throws
    {
        let connection = withUnsafeCurrentTask { $0?.hashValue }
        let response = try await answer {
            withUnsafeCurrentTask { $0?.hashValue } == connection ? .conflict : .noContent
        }
        #expect(response.status == .noContent)
    }

    @Test func `an error of the handler reaches the connection`() async {
        await #expect(throws: CancellationError.self) { _ = try await answer { throw CancellationError() } }
    }

    @Test func `a handler is cancelled with the task of its connection`() async throws {
        let isCancelled = try await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await answer { Task.isCancelled ? .gone : .noContent }.status
        }.value
        #expect(isCancelled == .gone)
    }
}
