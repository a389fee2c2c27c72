import Accounts
import HTTPTypes
import Hummingbird

/// Lists the events of the types that an application has chosen for its webhook. With the list, the application can
/// get the events that its webhook has missed, or check whether the webhook has received all events.
struct EventRoutes: Sendable {
    let applications: ApplicationRegistry
    let database: Database

    /// Answers `GET /events?after=CURSOR&limit=100`. The application authenticates with its id and secret by HTTP
    /// Basic.
    @Sendable func list(_ request: Request, _ context: RequestScope) async throws -> Response {
        guard let credentials = request.headers[.authorization].flatMap({ BasicCredentials($0) }),
            let application = applications.current[credentials.name],
            application.accepts(secret: credentials.password)
        else { return OAuthError.invalidClient.response(to: context) }
        let query = request.uri.queryParameters
        let cursor = query["after"].map { EventCursor(String($0)) } ?? .start
        let limit = query["limit"].map { Int($0) ?? 0 } ?? Database.maximumEventsInPage
        guard let cursor, (1...Database.maximumEventsInPage).contains(limit) else {
            let maximum = Database.maximumEventsInPage
            throw Problem(
                .malformedRequest,
                "The cursor is malformed, or the limit is not from 1 to \(maximum)."
            )
        }
        let subscriber = applications.current.subscribers.first { $0.id == application.id }
        guard let subscriber else { return OAuthError.invalidClient.response(to: context) }
        guard
            let (events, next, mayHaveMore) = try await database.events(for: subscriber, after: cursor, limit: limit)
        else {
            throw Problem(
                .malformedRequest,
                """
                The cursor is not from this database; the database may have been restored from a backup. List again \
                without a cursor.
                """
            )
        }
        return Answer(json: ["events": .array(events), "next": .string(next.text), "more": .bool(mayHaveMore)]).response
    }

    var operations: [Operation] {
        [
            .init(
                .get,
                "events",
                .listEvents,
                responses: [.ok: .anything, .unauthorized: .oauthError],
                .application(list)
            )
        ]
    }
}

extension Operation.Act {
    static let listEvents = Self(
        "listEvents",
        "Returns the events that the application subscribes to",
        query: ["after", "limit"],
        credentials: .application(isRequired: true)
    )
}
