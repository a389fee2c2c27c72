import Hummingbird

/// Answers each request in a task of its own.
///
/// Swift keeps the memory of the frames of asynchronous functions until their task ends, and the task of a connection
/// ends with the connection. In a task of its own, a request leaves nothing behind on a connection that is kept open.
struct RequestTask<Responder: HTTPResponder<RequestScope>>: HTTPResponder {
    let responder: Responder

    func respond(to request: Request, context: RequestScope) async throws -> Response {
        try await withThrowingTaskGroup(of: Response.self) { group in
            group.addImmediateTask { try await responder.respond(to: request, context: context) }
            return try await group.next()!
        }
    }
}
