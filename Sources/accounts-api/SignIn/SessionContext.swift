import Accounts
import Hummingbird
import Logging

/// The context of a request with a session. A request without a session never reaches a handler with this context.
struct SessionContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let session: AccountSession
    let token: Token<AccountSession>
    /// Whether the request has the token as a bearer token, and not also in a cookie.
    let isBearerOnly: Bool
    let network: Network
    let representation: Representation
    let language: Language
    /// The step in the path, if there is one.
    let step: Step?
    /// The values in the body; empty if there is no body. The values of a form with files are missing until ``Uploads``
    /// has read the form.
    var answers: Answers
    /// A form with files, whose body ``Uploads`` reads later; nil if the body is of another type.
    let formWithFiles: FormWithFiles?
    let subject: Subject

    init(context: RequestScope) throws {
        guard let session = context.session, let token = context.credentials.token(of: AccountSession.self) else {
            throw Problem.noSession
        }
        coreContext = context.coreContext
        isBearerOnly = context.credentials.isBearerOnly
        (self.session, self.token) = (session, token)
        representation = context.representation
        (network, language, answers) = (context.network, context.language, context.answers)
        (step, formWithFiles, subject) = (context.step, context.formWithFiles, context.subject)
    }
}

/// Finds the session of the token.
struct SessionLookup: RouterMiddleware {
    let sessions: Sessions

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        guard let token = context.credentials.token(of: AccountSession.self) else { throw Problem.noSession }
        let session = try await sessions.find(token)
        var context = context
        context.session = session
        context.logger[metadataKey: "account"] = "\(session.account.id)"
        return try await next(request, context)
    }
}
