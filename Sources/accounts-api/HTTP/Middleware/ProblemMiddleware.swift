import Accounts
import HTTPTypes
import Hummingbird
import Logging

/// Answers every error as a problem, in the language and the representation of the client. Errors are converted here
/// and, for pages that show a form again, in `Routes+Pages.swift`; no other place catches them.
struct ProblemMiddleware: RouterMiddleware {
    let publicURL: String
    let pages: Pages
    let representations: Representations
    /// The languages of the flow; the first is the default.
    let languages: [Language]

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        var context = context
        context.language = Language.negotiated(request.headers[.acceptLanguage], among: languages)
        context.representation = Representation(accept: request.headers[.accept]) ?? .json
        do {
            return try await next(request, context)
        } catch {
            // The language of the draft takes precedence over the one of the request.
            let language = context.subject.draft?.language ?? context.language
            let problem = ProblemContext(
                language: language,
                logger: context.logger,
                representations: representations
            ).problem(for: error)
            context.subject.set(problem)
            return context.representation == .page
                ? pages.response(to: problem, request, in: language)
                : problem.response(publicURL: publicURL, requestID: context.requestID, in: language)
        }
    }
}
