import Accounts
import Hummingbird

/// Refuses every request that reads or writes drafts while the keys of the server do not fit the database: its drafts
/// would be unreadable for the other servers, and theirs for it.
struct KeyCheck: RouterMiddleware {
    let keyMismatch: KeyMismatch?

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        if keyMismatch != nil { throw Problem.keysMissing }
        return try await next(request, context)
    }
}
