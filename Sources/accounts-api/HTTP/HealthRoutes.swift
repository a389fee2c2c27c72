import Accounts
import HTTPTypes
import Hummingbird

/// The handlers of health checks.
struct HealthRoutes: Sendable {
    let database: Database
    let shutdown: ShutdownSignal

    /// Succeeds if the process answers.
    @Sendable func live(_ request: Request, _ context: RequestScope) async throws -> Response {
        Answer(json: ["status": "live"]).response
    }

    /// Succeeds if the service can do its work and is not shutting down.
    @Sendable func ready(_ request: Request, _ context: RequestScope) async throws -> Response {
        let isStopping = shutdown.isUnderWay
        guard !isStopping, await database.isUp else {
            throw Problem(
                .unavailable,
                isStopping ? "The server is stopping." : "The database is unavailable.",
                headers: [.retryAfter: "1"]
            )
        }
        return Answer(json: ["status": "ready"]).response
    }
}
