import Accounts
import HTTPTypes
import Hummingbird

/// The handlers of health checks.
struct HealthRoutes: Sendable {
    private let database: DatabaseCheck
    let shutdown: ShutdownSignal
    /// The reason why the keys of this server do not fit the database; nil if they do.
    let keyMismatch: KeyMismatch?

    /// - Parameter patience: the maximum time to wait for the database.
    init(database: Database, shutdown: ShutdownSignal, keyMismatch: KeyMismatch?, patience: Duration) {
        self.database = DatabaseCheck { await database.isUp(within: patience) }
        (self.shutdown, self.keyMismatch) = (shutdown, keyMismatch)
    }

    /// Succeeds if the process answers.
    @Sendable func live(_ request: Request, _ context: RequestScope) async throws -> Response {
        Self.liveResponse
    }

    static var liveResponse: Response { Answer(json: ["status": "live"]).response }

    /// Succeeds if the service can do its work and is not shutting down.
    @Sendable func ready(_ request: Request, _ context: RequestScope) async throws -> Response {
        if let obstacle = await obstacle {
            throw Problem(.unavailable, obstacle, headers: [.retryAfter: "1"])
        }
        return Answer(json: ["status": "ready"]).response
    }

    /// The reason why the server is not ready; nil if it is ready.
    private var obstacle: String? {
        get async {
            if shutdown.isUnderWay { return "The server is stopping." }
            if let keyMismatch { return "The keys do not fit the database: \(keyMismatch)." }
            return await database.isUp() ? nil : "The database is unavailable."
        }
    }
}

extension HealthRoutes {
    var operations: [Operation] {
        [
            .init(.get, "health/live", .live, responses: [.ok: .health], .plain(live)),
            .init(.get, "health/ready", .ready, responses: [.ok: .health], .plain(ready)),
        ]
    }
}

extension Operation.Act {
    static let live = Self(
        "live",
        "Succeeds if the process answers"
    )

    static let ready = Self(
        "ready",
        "Succeeds if the service can process requests"
    )
}
