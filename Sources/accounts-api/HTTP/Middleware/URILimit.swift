import Accounts
import Hummingbird

/// Refuses a request whose path and query together have more than ``maximumBytes``.
struct URILimit: RouterMiddleware {
    static let maximumBytes = 8192

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        if request.uri.string.utf8.count > Self.maximumBytes {
            throw Problem(.uriTooLong, "The path and its query are too long. Use at most \(Self.maximumBytes) bytes.")
        }
        return try await next(request, context)
    }
}
