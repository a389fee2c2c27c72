import Accounts
import Hummingbird
import Logging

/// Finds the draft of the request's token. It runs after the middleware that needs no database.
struct DraftLookup: RouterMiddleware {
    let signups: Signups

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        guard let token = context.credentials.token(of: Draft.self) else {
            throw Problem.noDraft(in: signups.flow.purpose)
        }
        let draft = try await signups.find(token)
        var context = context
        context.draft = draft
        context.logger[metadataKey: "draft"] = "\(token.id)"
        context.subject.set(draft)
        return try await next(request, context)
    }
}
