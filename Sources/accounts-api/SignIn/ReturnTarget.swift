import Accounts
import Foundation
import Hummingbird

/// The page to which a person goes after signing in. Each page of the sign-in passes it on to the next page, except the
/// page that the link in a mail opens.
struct ReturnTarget {
    /// The URL or the path of the page; nil for the page of the account.
    let url: String?
    /// The application's authorization request, which continues at the URL; nil if the target is the account or a page
    /// behind a proxy.
    var authorization: AuthorizationRequest?

    static let account = ReturnTarget(url: nil)

    static let name = "return_to"

    /// Returns the path with the target in its query. Returns the same path if the target is the account.
    func carried(by path: String) -> String {
        guard let url, let value = url.addingPercentEncoding(withAllowedCharacters: Self.unreserved) else {
            return path
        }
        return "\(path)\(path.contains("?") ? "&" : "?")\(Self.name)=\(value)"
    }

    /// The unreserved characters of a URI (RFC 3986 §2.3).
    static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}

/// The pages to which people may be sent after signing in: pages of the hosts behind proxies, and authorization
/// requests that this service has encrypted. A stranger's link cannot name any other page.
struct ReturnTargets: Sendable {
    /// The hosts of the applications behind proxies; nil if forward authentication is not configured.
    let hosts: ForwardAuthHosts?
    /// The OpenID provider; nil if the service has no applications.
    let provider: Provider?

    fileprivate func target(_ text: String?) -> ReturnTarget {
        guard let text else { return .account }
        let path = AuthorizePages.path("")
        if text.hasPrefix(path), let request = provider?.request(ticket: String(text.dropFirst(path.count))) {
            return ReturnTarget(url: text, authorization: request)
        }
        return ReturnTarget(url: hosts?.allowed(text))
    }
}

extension ReturnTarget {
    /// Makes the target that continues the authorization request of an application.
    init(_ authorization: AuthorizationRequest, _ keys: KeyRing) {
        self.init(url: AuthorizePages.path(authorization.ticket(keys)), authorization: authorization)
    }

    /// Returns the target with an authorization request that records which account the person has chosen: that of the
    /// session in the answer. Returns the same target if it has no authorization request, or if the answer has no
    /// active session, for example because the sign-in waits for a second factor.
    func chosen(by answer: Answer, _ provider: Provider?) -> ReturnTarget {
        guard let authorization, let provider, let session = answer.json?["session"], session["state"] == "active",
            let id = session["id"]?.string.flatMap({ ID<AccountSession>($0) })
        else { return self }
        return ReturnTarget(authorization.choosing(id), provider.keys)
    }

    /// Reads the target from the query of a page. The target is the account if the query names none, or one that is not
    /// permitted.
    init(of request: Request, among targets: ReturnTargets) {
        self = targets.target(request.uri.queryParameters[Substring(Self.name)].map { String($0) })
    }

    /// Reads the target from the form of a page. Returns it with a changed context: the answers no longer contain the
    /// target, and the language is that of the authorization request unless the person has chosen one.
    static func taken(from context: RequestScope, among targets: ReturnTargets) -> (RequestScope, ReturnTarget) {
        let name = FieldName(Self.name)
        let target = targets.target(context.answers[name]?.json?.string)
        var context = context
        context.language = context.chosenLanguage ?? targets.language(of: target) ?? context.language
        context.answers = Answers(context.answers.members.filter { $0.name != name })
        return (context, target)
    }
}

extension ReturnTargets {
    /// The language of the authorization request in the query of a page; nil if there is none. ``ProblemMiddleware``
    /// calls this function, so the handlers of pages need not.
    func language(of request: Request) -> Language? {
        guard provider != nil, request.uri.query != nil else { return nil }
        if let ticket = request.uri.queryParameters["request"] {
            return provider?.request(ticket: String(ticket)).flatMap { provider?.language(of: $0) }
        }
        return language(of: ReturnTarget(of: request, among: self))
    }

    fileprivate func language(of target: ReturnTarget) -> Language? {
        target.authorization.flatMap { provider?.language(of: $0) }
    }
}

extension FormPage {
    /// Returns a copy whose form passes the target on, as do its links to pages of the sign-in, the sign-up and the
    /// recovery. Returns the same page if the target is the account.
    func carrying(_ target: ReturnTarget) -> FormPage {
        guard let url = target.url else { return self }
        var form = self
        // A new account cannot answer a request that expects a certain account.
        if target.authorization?.allowsSignUp == false { form.links.removeAll { $0.href == FlowPurpose.signup.path } }
        // Some browsers apply the Content-Security-Policy of the page to the redirects after the form, too.
        form.formTargets = [target.authorization?.redirectURI ?? url]
        form.hidden.append((ReturnTarget.name, url))
        form.address = target.carried(by: action)
        form.back = back.map(target.link)
        form.next = next.map { ($0.label, target.link(to: $0.href)) }
        form.links = form.links.map { ($0.text, $0.label, target.link(to: $0.href)) }
        return form
    }
}

extension ReturnTarget {
    /// Returns the link to the page with this path. The link passes the target on if the page belongs to the sign-in,
    /// the sign-up or the recovery. With an authorization request, the link to a sign-up or a recovery leads to
    /// ``AuthorizePages``, which goes on to that page.
    func link(to path: String) -> String {
        guard let url else { return path }
        if path.hasPrefix("/sign-in") { return carried(by: path) }
        guard authorization != nil else {
            return [FlowPurpose.signup, .recovery].map(\.path).contains(path) ? carried(by: path) : path
        }
        return switch path {
        case FlowPurpose.signup.path: "\(url)&sign-up=1"
        case FlowPurpose.recovery.path: "\(url)&recover=1"
        default: path
        }
    }
}
