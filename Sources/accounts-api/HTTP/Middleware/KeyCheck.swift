import Accounts
import Hummingbird

/// Refuses every request that reads or writes encrypted data while the keys of this server do not fit the database.
/// Otherwise this server could not read what the other servers write, and they could not read what it writes.
struct KeyCheck: RouterMiddleware {
    let keyMismatch: KeyMismatch?

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        if keyMismatch != nil { throw Problem.keysMissing }
        return try await next(request, context)
    }
}
