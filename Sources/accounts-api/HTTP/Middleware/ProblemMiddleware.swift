import Accounts
import HTTPTypes
import Hummingbird
import Logging

/// Converts every error that reaches it to a problem, and answers in the language and the representation of the client.
/// Only pages that show a form again catch errors earlier.
struct ProblemMiddleware: RouterMiddleware {
    let publicURL: String
    /// All flows. The first one also answers errors at paths that belong to no flow.
    let sites: [FlowSite]

    /// The languages of the flow; the first is the default.
    private var languages: [Language] { sites[0].signups.flow.languages }

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        var context = context
        context.language =
            ReturnTargets(hosts: nil, provider: sites[0].provider).language(of: request)
            ?? Language.negotiated(request.headers[.acceptLanguage], among: languages)
        context.representation = Representation(accept: request.headers[.accept]) ?? .json
        do {
            return try await next(request, context)
        } catch {
            // The language of the draft takes precedence over the one of the request.
            let language = context.subject.draft?.language ?? context.language
            let site = sites.first { $0.has(request.uri.path) } ?? sites[0]
            let problem = ProblemContext(
                language: language,
                logger: context.logger,
                representations: site.representations
            ).problem(for: error)
            context.subject.set(problem)
            return context.representation == .page
                ? site.pages.response(to: problem, request, in: language)
                : problem.response(publicURL: publicURL, requestID: context.requestID, in: language)
        }
    }
}
