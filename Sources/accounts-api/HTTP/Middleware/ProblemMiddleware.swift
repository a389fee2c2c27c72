import Accounts
import HTTPTypes
import Hummingbird
import Logging

/// Answers every error as a problem, in the language and the representation of the client. Errors are converted here
/// and, for pages that show a form again, in `Routes+Pages.swift`; no other place catches them.
struct ProblemMiddleware: RouterMiddleware {
    let publicURL: String
    /// All flows; the first one answers what belongs to none.
    let sites: [FlowSite]

    let languages: LanguageChoice

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        var context = context
        context.representation = Representation(accept: request.headers[.accept]) ?? .json
        let isPage = context.representation == .page
        let (named, kept) = isPage ? (languages.inQuery(of: request), languages.inCookie(of: request)) : (nil, nil)
        context.chosenLanguage = named ?? kept
        // The first language of the flow is the default.
        context.language =
            context.chosenLanguage
            ?? ReturnTargets(hosts: nil, provider: sites[0].provider).language(of: request)
            ?? Language.negotiated(request.headers[.acceptLanguage], among: languages.languages)
        var response = try await PageRequest.$current.withValue(PageRequest(request)) {
            try await respond(request, context, next)
        }
        // The following pages have the language, too.
        if let named, named != kept { response.headers.append(languages.cookie.set(named.rawValue)) }
        return response
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
            return context.representation == .page
                ? site.pages.response(to: problem, request, in: language)
                : problem.response(publicURL: publicURL, requestID: context.requestID, in: language)
        }
    }
}
