import Accounts
import Foundation
import Hummingbird

/// Where a person goes after signing in, which all pages of the sign-in pass on.
struct ReturnTarget {
    /// Nil for the page of the account.
    let url: String?

    static let name = "return_to"

    /// The same path, with the target in its query.
    func carried(by path: String) -> String {
        guard let url, let value = url.addingPercentEncoding(withAllowedCharacters: Self.unreserved) else {
            return path
        }
        return "\(path)\(path.contains("?") ? "&" : "?")\(Self.name)=\(value)"
    }

    /// RFC 3986 §2.3.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}

extension ReturnTarget {
    /// The target in the query of a page.
    init(of request: Request, among hosts: ForwardAuthHosts?) {
        url = request.uri.queryParameters[Substring(Self.name)].flatMap { hosts?.allowed(String($0)) }
    }

    /// The target in the form of a page; the same answers without it.
    static func taken(from context: RequestScope, among hosts: ForwardAuthHosts?) -> (RequestScope, ReturnTarget) {
        let name = FieldName(Self.name)
        let target = ReturnTarget(url: context.answers[name]?.json?.string.flatMap { hosts?.allowed($0) })
        var context = context
        context.answers = Answers(context.answers.members.filter { $0.name != name })
        return (context, target)
    }
}

extension FormPage {
    /// The form of a sign-in that passes on where the person goes afterwards.
    func carrying(_ target: ReturnTarget) -> FormPage {
        guard let url = target.url else { return self }
        func carried(_ path: String) -> String { path.hasPrefix("/sign-in") ? target.carried(by: path) : path }
        var form = self
        form.hidden.append((ReturnTarget.name, url))
        form.back = back.map(carried)
        form.links = links.map { ($0.text, $0.label, carried($0.href)) }
        return form
    }
}
