import Accounts
import HTTPTypes
import Synchronization
import TestSupport

@testable import accounts_api

/// A person whose browser runs no script. It keeps the cookies, sends forms and follows redirections.
final class PageVisitor: Sendable {
    private let site: TestServer
    private let language: String
    private let jar = Mutex<[String: String]>([:])

    init(_ site: TestServer, language: String = "en") {
        self.site = site
        self.language = language
    }

    /// A page, and its path after all redirections.
    struct Page: Sendable {
        let path: String
        let status: Int
        let html: String
        let headers: HTTPFields

        func has(_ text: String) -> Bool { html.contains(text) }

        /// The hidden members of the first form below the heading, as the browser sends them.
        var hidden: String {
            let form = html.split(separator: "<h1>").last?.split(separator: "</form>").first ?? ""
            return form.matches(of: /<input type="hidden" name="([^"]+)" value="([^"]*)">/)
                .map { "\($0.1)=\(String($0.2).formEncoded)" }.joined(separator: "&")
        }
    }

    func open(_ path: String) async throws -> Page {
        try await follow(path, send(.get, path))
    }

    /// - Parameter referer: the page with the form.
    func post(_ path: String, _ form: String = "", referer: String? = nil) async throws -> Page {
        let response = try await send(
            .post,
            path,
            Array(form.utf8),
            "application/x-www-form-urlencoded",
            referer: referer
        )
        return try await follow(path, response)
    }

    func post(_ path: String, _ form: Multipart) async throws -> Page {
        try await follow(path, send(.post, path, form.bytes, Multipart.type))
    }

    /// Sends one request, and follows no redirection.
    func send(_ method: HTTPRequest.Method, _ path: String, _ form: String? = nil) async throws -> Response {
        try await send(method, path, form.map { Array($0.utf8) }, "application/x-www-form-urlencoded")
    }

    private func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: [UInt8]?,
        _ type: String,
        referer: String? = nil
    ) async throws -> Response {
        var headers: HTTPFields = [
            .accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
            .acceptLanguage: language, .secFetchSite: "same-origin",
        ]
        let cookies = jar.withLock { $0.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } }
        if !cookies.isEmpty { headers[.cookie] = cookies.joined(separator: "; ") }
        if body != nil { headers[.contentType] = type }
        headers[.referer] = referer
        let response = try await site.send(method, path, bytes: body, headers)
        for cookie in response.headers[values: .setCookie] {
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            jar.withLock { $0[pair[0]] = pair.count > 1 ? pair[1] : nil }
        }
        return response
    }

    private func follow(_ path: String, _ first: Response) async throws -> Page {
        var (path, response) = (path, first)
        for _ in 0..<5 {
            guard response.status == 303, let location = response.headers[.location] else { break }
            path = location
            response = try await send(.get, path)
        }
        return Page(path: path, status: response.status, html: response.body, headers: response.headers)
    }

    /// Starts a sign-up and submits every step up to this one.
    func fill(through last: String, email: String = "kim@example.com") async throws -> Page {
        var page = try await post("/signup", "locale=\(language)")
        for step in ["email", "code", "password", "profile", "contact", "totp", "terms"] {
            let form =
                switch step {
                case "email": "email=\(email.replacing("@", with: "%40"))"
                case "code": "code=\(try await site.service.readCode(for: email))"
                case "password": "password=a+pass+phrase+of+mine&confirmation=a+pass+phrase+of+mine"
                case "profile": "username=kim&display_name=Kim&introduction="
                case "contact": "phone=010-1234-5678&birth_date=2001-02-28"
                case "totp": ""
                default: "terms=on"
                }
            page = try await post("/signup/\(step)", form)
            if step == last { break }
        }
        return page
    }
}
