import Accounts
import HTTPTypes
import Hummingbird

/// Finds the language that is chosen for the pages: in the query of a link, or in the cookie that keeps the choice.
struct LanguageChoice: Sendable {
    /// The languages of the flow.
    let languages: [Language]
    let cookie: TokenCookie
    /// The paths whose query may choose a language.
    let paths: Set<String>

    init(languages: [Language], isSecure: Bool, sites: [FlowPurpose]) {
        self.languages = languages
        cookie = Self.cookie(isSecure: isSecure)
        paths = Set(sites.map(\.path) + ["/sign-in"])
    }

    /// The cookie of the choice, with a language tag such as `ko`. The browser deletes the cookie when it closes.
    static func cookie(isSecure: Bool) -> TokenCookie { TokenCookie("locale", isSecure: isSecure) }

    /// The parameters of a query that choose the language. `ui_locales` is the name in OpenID Connect. The value may
    /// have several tags, the best first.
    static let parameters = ["locale", "ui_locales"]

    /// The first language of the flow that the query of a GET or HEAD request names, among the first 32 tags of each
    /// parameter. Nil if the query names none, or if the path is not in ``paths``.
    func inQuery(of request: Request) -> Language? {
        guard [.get, .head].contains(request.method), paths.contains(request.uri.path), request.uri.query != nil else {
            return nil
        }
        let query = request.uri.queryParameters
        let tags = Self.parameters.flatMap { name in
            (query[name[...]] ?? "").split { $0 == " " || $0 == "+" }.prefix(32)
        }
        return tags.lazy.compactMap { language(String($0)) }.first
    }

    func inCookie(of request: Request) -> Language? {
        cookie.values(in: request.headers).first.flatMap { language($0) }
    }

    func language(_ tag: String) -> Language? { languages.language(for: tag) }
}

/// The handler of the form with which a person changes the language of a page. Most pages have this form at the foot.
struct LanguageRoutes: Sendable {
    let choice: LanguageChoice
    let sites: [FlowSite]

    /// The path is below `/sign-in`, which proxies already pass to the service, so their configuration need not name
    /// it.
    static let path = "/sign-in/language"

    /// Stores the chosen language in a cookie and, if the page belongs to a flow, in the browser's draft of this flow.
    /// Redirects to the page. An unknown language changes nothing.
    @Sendable func choose(_ request: Request, _ context: RequestScope) async throws -> Response {
        let page = context.answers["page"]?.json?.string.flatMap { PageAddress($0) }
        let target = page?.text ?? sites[0].purpose.path
        guard let tag = context.answers["locale"]?.json?.string, let language = choice.language(tag) else {
            return Pages.seeOther(target)
        }
        if let site = sites.first(where: { $0.has(page?.path ?? "") }),
            let token = site.cookie.values(in: request.headers).first.flatMap({ Token<Draft>($0) })
        {
            try await site.signups.choose(language, for: token)
        }
        return Pages.seeOther(target, [.setCookie: choice.cookie.set(language.tag).value])
    }

    var operations: [Operation] {
        [
            .init(
                .post,
                String(Self.path.dropFirst()),
                .form("chooseLanguage", secretMembers: [], credentials: .nothing),
                responses: [.seeOther: .nothing],
                .signInPage(choose)
            )
        ]
    }
}
