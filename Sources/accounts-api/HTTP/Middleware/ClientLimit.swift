import Accounts
import HTTPTypes
import Hummingbird

/// Determines the network of the client, and limits how many requests from this network are being answered at the same
/// time.
///
/// The limit of connections is not enough: a client may close a connection before the answer, and the work for the
/// answer goes on. In this way one client could fill the queue to the database. Requests without an address of a
/// client, such as those that a trusted proxy sends by itself, are not counted. There is no limit on
/// forward-authentication checks, in which a proxy asks whether the client of an application is signed in: a browser
/// may load many parts of a page at once.
struct ClientLimit: RouterMiddleware {
    let proxies: Proxies
    /// Nil for requests without a limit.
    let limiter: ConcurrencyLimiter?

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        guard let client = proxies.client(context.peer, request.headers) else {
            return try await next(request, context)
        }
        let network = Network(client)
        var context = context
        context.network = network
        guard let limiter, !proxies.isTrusted(client) else { return try await next(request, context) }
        guard limiter.acquire(for: network) else {
            throw Problem(
                .rateLimited,
                "Too many requests from this network are in progress. Send fewer at the same time.",
                headers: [.retryAfter: "1"]
            )
        }
        defer { limiter.release(of: network) }
        return try await next(request, context)
    }
}
