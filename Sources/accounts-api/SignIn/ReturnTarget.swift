import Accounts
import Foundation
import Hummingbird

/// Where a person goes after signing in, which all pages of the sign-in pass on.
struct ReturnTarget {
    /// Nil for the page of the account.
    let url: String?
    /// The request of an application that goes on there; nil if it is the page of a proxy's host.
    var authorization: AuthorizationRequest?

    static let account = ReturnTarget(url: nil)

    static let name = "return_to"

    /// The same path, with the target in its query.
    func carried(by path: String) -> String {
        guard let url, let value = url.addingPercentEncoding(withAllowedCharacters: Self.unreserved) else {
            return path
        }
        return "\(path)\(path.contains("?") ? "&" : "?")\(Self.name)=\(value)"
    }

    /// RFC 3986 §2.3.
    static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}

/// What a person may be sent to after signing in: nothing that a stranger could have put into a link.
struct ReturnTargets: Sendable {
    /// Nil if no proxy asks who people are.
    let hosts: ForwardAuthHosts?
    /// Nil if there are no applications.
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
    /// Where the request of an application goes on.
    init(_ authorization: AuthorizationRequest, _ keys: KeyRing) {
        self.init(url: AuthorizePages.path(authorization.ticket(keys)), authorization: authorization)
    }

    /// The target in the query of a page.
    init(of request: Request, among targets: ReturnTargets) {
        self = targets.target(request.uri.queryParameters[Substring(Self.name)].map { String($0) })
    }

    /// The target in the form of a page; the same answers without it.
    static func taken(from context: RequestScope, among targets: ReturnTargets) -> (RequestScope, ReturnTarget) {
        let name = FieldName(Self.name)
        let target = targets.target(context.answers[name]?.json?.string)
        var context = context
        context.language = context.chosenLanguage ?? target.authorization?.language ?? context.language
        context.answers = Answers(context.answers.members.filter { $0.name != name })
        return (context, target)
    }
}

extension ReturnTargets {
    /// The language that an application has asked for, if the page goes on with its request. So that no page has to look
    /// for it, it is found before the handler, by the query.
    func language(of request: Request) -> Language? {
        guard provider != nil, request.uri.query != nil else { return nil }
        if let ticket = request.uri.queryParameters["request"] {
            return provider?.request(ticket: String(ticket))?.language
        }
        return ReturnTarget(of: request, among: self).authorization?.language
    }
}

extension FormPage {
    /// The form of a sign-in that passes on where the person goes afterwards.
    func carrying(_ target: ReturnTarget) -> FormPage {
        guard let url = target.url else { return self }
        func carried(_ path: String) -> String {
            if path.hasPrefix("/sign-in") { return target.carried(by: path) }
            guard target.authorization != nil else { return path }
            return switch path {
            case FlowPurpose.signup.path: "\(url)&sign-up=1"
            case FlowPurpose.recovery.path: "\(url)&recover=1"
            default: path
            }
        }
        var form = self
        // A new account could not answer a request that expects a known one.
        if target.authorization?.allowsSignUp == false { form.links.removeAll { $0.href == FlowPurpose.signup.path } }
        // The browser checks the redirects after the form, too.
        form.formTargets = [target.authorization?.redirectURI ?? url]
        form.hidden.append((ReturnTarget.name, url))
        form.address = target.carried(by: action)
        form.back = back.map(carried)
        form.links = form.links.map { ($0.text, $0.label, carried($0.href)) }
        return form
    }
}
