import Accounts
import HTTPTypes
import Hummingbird
import Logging

/// Converts every error that reaches it to a problem, and answers in the language of the draft or of the client, and in
/// the representation that the client prefers. Some handlers answer errors themselves, such as pages that show a form
/// again, and the handlers for applications.
struct ProblemMiddleware: RouterMiddleware {
    let publicURL: String
    /// All flows. The first one also answers errors at paths that belong to no flow.
    let sites: [FlowSite]

    let languages: LanguageChoice

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        var context = context
        context.representation = Representation(accept: request.headers[.accept]) ?? .json
        guard context.representation == .page else {
            context.language = language(of: request)
            return try await respond(request, context, next)
        }
        let (named, kept) = (languages.inQuery(of: request), languages.inCookie(of: request))
        context.chosenLanguage = named ?? kept
        context.language = context.chosenLanguage ?? language(of: request)
        var response = try await PageRequest.$current.withValue(PageRequest(request)) {
            try await respond(request, context, next)
        }
        // Keeps the language for the following pages.
        if let named, named != kept { response.headers.append(languages.cookie.set(named.tag)) }
        return response
    }

    /// The language that an application has asked for, or that the client prefers; by default the first language of the
    /// flow.
    private func language(of request: Request) -> Language {
        ReturnTargets(hosts: nil, provider: sites[0].provider).language(of: request)
            ?? Language.negotiated(request.headers[.acceptLanguage], among: languages.languages)
    }

    private func respond(_ request: Request, _ context: RequestScope, _ next: Next) async throws -> Response {
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
            return context.representation == .page && !context.subject.hasNoPage
                ? site.pages.response(to: problem, request, hasSessionCookie: site.hasSession(request), in: language)
                : problem.response(publicURL: publicURL, requestID: context.requestID, in: language)
        }
    }
}
