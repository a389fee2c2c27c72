import Accounts
import HTTPTypes
import Hummingbird

/// The request of a browser, as a proxy describes it when the proxy asks this service who the person is.
struct ForwardedRequest {
    /// The host of the request in lower case, with its port if the proxy has sent one. Empty if Envoy has sent no host.
    let host: String
    /// The path and the query of the request.
    let target: String
    /// Whether the proxy is nginx, which does not accept a redirect as the answer.
    let isFromNginx: Bool
    /// Whether the browser loads a whole page, and not a part of one. Only then can a redirect show another page.
    let isNavigation: Bool
    /// The cookies of the request, each as `name=value`.
    let cookies: [Substring]

    /// Reads `X-Original-URL` and `X-Original-Method` of nginx, or `X-Forwarded-Host`, `X-Forwarded-Uri` and
    /// `X-Forwarded-Method` of other proxies. Returns nil if both `X-Original-URL` and `X-Forwarded-Host` are missing,
    /// or if `X-Original-URL` has another scheme than http and https.
    init?(_ headers: HTTPFields) {
        let method: String?
        if let url = headers[.originalURL] {
            guard let scheme = ["https://", "http://"].first(where: { url.hasPrefix($0) }) else { return nil }
            let rest = url.utf8.dropFirst(scheme.utf8.count)
            let host = rest.prefix { !"/?#".utf8.contains($0) }
            self.host = Substring(host).lowercased()
            target = String(Substring(rest[host.endIndex...]))
            method = headers[.originalMethod]
            isFromNginx = true
        } else if let host = headers[.forwardedHost] {
            self.host = host.lowercased()
            target = headers[.forwardedURI] ?? "/"
            method = headers[.forwardedMethod]
            isFromNginx = false
        } else {
            return nil
        }
        isNavigation = Self.isNavigation(method, headers)
        cookies = Self.cookies(in: headers)
    }

    /// Reads a request that Envoy repeats, with its method, its `Host`, and its target after the prefix. Ignores the
    /// headers that other proxies send. Returns nil if the prefix is missing.
    init?(_ request: Request, after prefix: String) {
        guard request.uri.string.hasPrefix(prefix) else { return nil }
        host = request.head.authority?.lowercased() ?? ""
        target = String(request.uri.string.dropFirst(prefix.count))
        isFromNginx = false
        isNavigation = Self.isNavigation(request.method.rawValue, request.headers)
        cookies = Self.cookies(in: request.headers)
    }

    private static func isNavigation(_ method: String?, _ headers: HTTPFields) -> Bool {
        method == "GET" && headers[.secFetchMode] == "navigate"
    }

    private static func cookies(in headers: HTTPFields) -> [Substring] {
        headers[values: .cookie].flatMap { $0.headerParts(separatedBy: ";") }
    }
}

extension HTTPField.Name {
    static let originalURL = Self("X-Original-URL")!
    static let originalMethod = Self("X-Original-Method")!
    static let forwardedHost = Self("X-Forwarded-Host")!
    static let forwardedURI = Self("X-Forwarded-Uri")!
    static let forwardedMethod = Self("X-Forwarded-Method")!
    static let secFetchMode = Self("Sec-Fetch-Mode")!
    static let remoteUser = Self("Remote-User")!
    static let remoteEmail = Self("Remote-Email")!
    static let remoteName = Self("Remote-Name")!
    static let identity = Self("X-Identity")!
}
