import Accounts
import Crypto
import Foundation
import HTTPTypes
import TestSupport

@testable import accounts_api

/// An application that uses the OpenID provider over HTTP, written from the specifications.
struct RelyingParty: Sendable {
    let site: TestServer
    var id = "shop"
    var secret: String? = secrets[0]
    var redirectURI = "https://shop.example/callback"

    static let secrets = ["the-secret-of-the-shop-0123456789abcdef", "the-secret-of-the-shop-before-0123456789"]

    static let webhookSecret = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()

    /// An applications file with a confidential and a public application.
    static let file = """
        applications:
          - id: shop
            name: {en: Example Shop, ko: 예시 상점}
            redirect_uris: [https://shop.example/callback, "https://shop.example/other?from=accounts"]
            post_logout_redirect_uris: [https://shop.example/]
            initiate_login_uri: https://shop.example/login
            secret_file: shop
            claims: [email, username, display_name]
            webhook: {url: https://shop.example/hooks, events: [account.created, refresh.reused], secret_file: hooks}
          - id: reader
            name: {en: Reader, ko: 리더}
            redirect_uris: [http://127.0.0.1/callback]
            initiate_login_uri: https://reader.example/login
            claims: []
            id_token_signing_alg: RS256
        """

    /// - Parameter file: the text of the applications file.
    static func registry(_ flow: Flow, publicURL: String, file: String = file) throws -> ApplicationRegistry {
        try ApplicationRegistry { () throws(ApplicationsFileError) in
            try Applications.parse(file, file: "applications.yaml", flow: flow, publicURL: publicURL) { path in
                SecretFile(lines: path.hasSuffix("hooks") ? [webhookSecret] : secrets)
            }
        }
    }

    /// Runs the server with both applications, or with those of another applications file.
    static func with(
        flow: String? = nil,
        publicURL: String = "http://localhost:8080",
        file: String = file,
        _ body: @escaping @Sendable (RelyingParty) async throws -> Void
    ) async throws {
        try await TestServer.with(
            publicURL: publicURL,
            flow: flow,
            hasApplications: true,
            applicationsFile: file
        ) { site in
            try await body(RelyingParty(site: site))
        }
    }

    /// The public application, with a port in its redirect URI that is not registered.
    var reader: RelyingParty {
        RelyingParty(site: site, id: "reader", secret: nil, redirectURI: "http://127.0.0.1:5173/callback")
    }

    // MARK: The authorization request

    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    /// The parameters of an authorization request. A nil in `changes` removes the parameter.
    func parameters(_ changes: [String: String?] = [:]) -> [String: String] {
        var all = [
            "client_id": id, "redirect_uri": redirectURI, "response_type": "code", "scope": "openid email",
            "state": "a state &=?", "nonce": "a nonce", "code_challenge": Self.challenge,
            "code_challenge_method": "S256",
        ]
        for (name, value) in changes { all[name] = value }
        return all
    }

    static func form(_ parameters: [String: String]) -> String {
        parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.formEncoded)" }.joined(separator: "&")
    }

    func url(_ changes: [String: String?] = [:]) -> String { "/oauth/authorize?\(Self.form(parameters(changes)))" }

    /// The target of a redirect: its address without the query, and the parameters of the query.
    struct Redirect {
        let address: String
        let query: [String: String]

        init(_ response: Response) {
            let location = response.headers[.location] ?? ""
            address = String(location.prefix { $0 != "?" })
            let items = URLComponents(string: location)?.queryItems ?? []
            query = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        }
    }

    func authorize(_ browser: Browser, _ changes: [String: String?] = [:]) async throws -> Redirect {
        let response = try await browser.send(.get, url(changes))
        guard let chosen = Self.choice(on: response) else { return Redirect(response) }
        return try await Redirect(browser.send(.get, chosen))
    }

    /// The link that continues with the signed-in account; nil if the page does not ask for the choice of an account.
    static func choice(on page: Response) -> String? {
        page.body.firstMatch(of: /class="button main" href="(\/oauth\/authorize\/continue[^"]+)"/).map { String($0.1) }
    }

    /// Gets an authorization code for the session of the browser.
    func code(_ browser: Browser, _ changes: [String: String?] = [:]) async throws -> String {
        guard let code = try await authorize(browser, changes).query["code"] else { throw Missing() }
        return code
    }

    // MARK: Direct requests

    func post(_ path: String, _ parameters: [String: String], hasBasic: Bool = true) async throws -> Response {
        var headers: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
        var parameters = parameters
        if let secret, hasBasic {
            headers[.authorization] = "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString()
        } else {
            parameters["client_id"] = parameters["client_id"] ?? id
        }
        return try await site.send(.post, path, bytes: Array(Self.form(parameters).utf8), headers)
    }

    func redeem(_ code: String, _ changes: [String: String] = [:]) async throws -> Response {
        let parameters = [
            "grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI,
            "code_verifier": Self.verifier,
        ]
        return try await post("/oauth/token", parameters.merging(changes) { $1 })
    }

    func refresh(_ token: String) async throws -> Response {
        try await post("/oauth/token", ["grant_type": "refresh_token", "refresh_token": token])
    }

    func userInfo(_ accessToken: String) async throws -> Response {
        try await site.send(.get, "/oauth/userinfo", [.authorization: "Bearer \(accessToken)"])
    }

    /// Gets tokens for the session of the browser.
    func signIn(_ browser: Browser, _ changes: [String: String?] = [:]) async throws -> Response {
        try await redeem(code(browser, changes))
    }
}

extension Response {
    /// The claims of a token in the body, without a check of its signature; null if the member has no token.
    func claims(of member: String = "id_token") -> JSON { part(1, of: member) }

    /// The header of a token in the body; null if the member has no token.
    func header(of member: String) -> JSON { part(0, of: member) }

    private func part(_ number: Int, of member: String) -> JSON {
        let parts = json[member]?.string?.split(separator: ".") ?? []
        guard parts.count == 3 else { return .null }
        let base64 = parts[number].replacing("-", with: "+").replacing("_", with: "/")
        let bytes = Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4))
        return bytes.flatMap { try? JSON.read(Array($0)) } ?? .null
    }
}
