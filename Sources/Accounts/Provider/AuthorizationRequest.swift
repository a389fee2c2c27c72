package import Foundation

/// What an application asks for at `/oauth/authorize`: OpenID Connect Core §3.1.2.1, with PKCE (RFC 7636), by code only.
package struct AuthorizationRequest: Hashable, Sendable {
    package let application: String
    package let redirectURI: String
    package let state: String?
    let nonce: String?
    /// The words that are supported, among those that were asked for.
    let scope: String
    /// The code challenge of PKCE, by S256.
    let challenge: String
    package private(set) var prompts: Set<Prompt>
    /// The seconds since when the person must have proved who they are.
    let maxAge: Int?
    package let loginHint: String?
    /// The tag of the language of the pages, if the application asks for one that the flow has
    /// (``Provider/language(of:)``).
    let locale: String?
    /// When a browser brought the request, by the clock of the database (``Provider/dated(_:_:)``).
    package private(set) var madeAt: Date
    /// Whether the person has made an account for it.
    private(set) var isAnsweredBySignUp = false
    /// The session with whose account the person has said to go on.
    private(set) var chosen: ID<AccountSession>?
    /// The account that the application expects, by its `id_token_hint`.
    private(set) var expected: ID<Account>?
    /// Whether only a session that begins after the request answers it, because nobody can verify the hint.
    private(set) var needsNewSession = false

    /// The same request, made at another time.
    package func made(at time: Date) -> AuthorizationRequest {
        var request = self
        request.madeAt = time
        return request
    }

    /// The same request, answered for that account only.
    func expecting(_ hint: IDTokenHint) -> AuthorizationRequest {
        var request = self
        (request.expected, request.needsNewSession) = (hint.account, !hint.isVerified)
        return request
    }

    /// Whether a new account can answer the request: not if the application expects an account that it knows.
    package var allowsSignUp: Bool { expected == nil }

    /// The same request after the person has said to go on with the account of that session.
    package func choosing(_ session: AccountSession) -> AuthorizationRequest {
        var request = self
        request.chosen = session.id
        return request
    }

    /// The same request after the person has made an account for it: nothing more is asked.
    func answered(bySignUpAt time: Date) -> AuthorizationRequest {
        var request = made(at: time)
        request.isAnsweredBySignUp = true
        request.prompts.subtract([.create, .selectAccount])
        return request
    }

    /// What the person shall see (OpenID Connect Core §3.1.2.1; Initiating User Registration 1.0).
    package enum Prompt: String, CaseIterable, Sendable {
        case none, login, create
        case selectAccount = "select_account"
    }

    package static let scopes = ["openid", "profile", "email", "offline_access"]

    /// Its lifetime, from the first page to the answer, unless it lies in a draft.
    static let lifetime = 3600.0
}

/// A request that the person cannot be sent back with: the application or its redirect URI is wrong (RFC 6749 §4.1.2.1), or
/// the prompt is unknown (Initiating User Registration 1.0 §4.1).
package struct UnanswerableRequest: Error, Hashable, Sendable {
    package let detail: String
}

/// A request whose error goes back to the application.
package struct RefusedRequest: Error, Hashable, Sendable {
    package let redirectURI: String
    package let state: String?
    package let error: OAuthError
}

package enum AuthorizationError: Error {
    case unanswerable(UnanswerableRequest)
    case refused(RefusedRequest)
    case provider(ProviderError)
}

extension AuthorizationRequest {
    /// - Parameters:
    ///   - parameters: from the query, the form, or a pushed request.
    ///   - languages: those of the flow.
    init(
        _ parameters: OAuthParameters,
        of application: Application,
        among languages: [Language],
        at now: Date = Date()
    ) throws(AuthorizationError) {
        guard let redirectURI = parameters["redirect_uri"], application.allows(redirectURI: redirectURI) else {
            throw .unanswerable(.init(detail: "The redirect_uri is missing, or is not registered for the application."))
        }
        let state = parameters["state"]
        func refusal(_ code: String, _ description: String) -> AuthorizationError {
            .refused(.init(redirectURI: redirectURI, state: state, error: OAuthError(code, description)))
        }
        for word in parameters.words("prompt") where Prompt(rawValue: word) == nil {
            throw .unanswerable(.init(detail: "The prompt has a value that is not supported. \(Self.knownPrompts)"))
        }
        let prompts = Set(parameters.words("prompt").compactMap { Prompt(rawValue: $0) })
        guard prompts.count < 2 || prompts.isDisjoint(with: [.none, .create]) else {
            throw refusal("invalid_request", "The prompts none and create stand alone.")
        }
        for (name, code) in [("request", "request_not_supported"), ("registration", "registration_not_supported")]
        where parameters[name] != nil { throw refusal(code, "The parameter \(name) is not supported.") }
        guard parameters["response_type"] == "code" else {
            throw refusal(
                parameters["response_type"] == nil ? "invalid_request" : "unsupported_response_type",
                "The response_type must be code."
            )
        }
        guard [nil, "query"].contains(parameters["response_mode"]) else {
            throw refusal("invalid_request", "The response_mode must be query.")
        }
        guard parameters["code_challenge_method"] == "S256", let challenge = parameters["code_challenge"],
            challenge.utf8.count == 43, challenge.utf8.allSatisfy(\.isBase64URL)
        else { throw refusal("invalid_request", "PKCE is required: a code_challenge of 43 characters by S256.") }
        let scopes = parameters.words("scope")
        guard scopes.contains("openid") else { throw refusal("invalid_scope", "The scope must contain openid.") }
        var maxAge: Int?
        if let text = parameters["max_age"] {
            guard let seconds = Int(text), seconds >= 0, text.utf8.count < 10 else {
                throw refusal("invalid_request", "The max_age is not a number of seconds.")
            }
            maxAge = seconds
        }
        for name in ["state", "nonce", "login_hint"] where (parameters[name]?.utf8.count ?? 0) > 1024 {
            throw refusal("invalid_request", "The \(name) has more than 1024 bytes.")
        }
        self.init(
            application: application.id,
            redirectURI: redirectURI,
            state: state,
            nonce: parameters["nonce"],
            scope: Self.scopes.filter(scopes.contains).joined(separator: " "),
            challenge: challenge,
            prompts: prompts,
            maxAge: maxAge,
            loginHint: parameters["login_hint"],
            locale: parameters.words("ui_locales").prefix(32).lazy.compactMap(languages.language).first?.tag,
            madeAt: now
        )
    }

    private static let knownPrompts =
        "Supported are \(Prompt.allCases.map(\.rawValue).joined(separator: ", "))."
}

// MARK: - As JSON, for encryption

extension AuthorizationRequest {
    var json: JSON {
        var members: [JSON.Member] = [
            .init("application", .string(application)), .init("redirect_uri", .string(redirectURI)),
            .init("scope", .string(scope)), .init("challenge", .string(challenge)),
            .init("prompts", .array(prompts.map { .string($0.rawValue) })),
            .init("made_at", .integer(Int(madeAt.timeIntervalSince1970 * 1000))),
        ]
        for (name, text) in [
            ("state", state), ("nonce", nonce), ("login_hint", loginHint), ("language", locale),
        ] {
            if let text { members.append(.init(name, .string(text))) }
        }
        if let maxAge { members.append(.init("max_age", .integer(maxAge))) }
        if let expected { members.append(.init("expected", .string("\(expected)"))) }
        if needsNewSession { members.append(.init("needs_new_session", true)) }
        if let chosen { members.append(.init("chosen", .string("\(chosen)"))) }
        if isAnsweredBySignUp { members.append(.init("signed_up", true)) }
        return .object(members)
    }

    init?(json: JSON) {
        func list(_ name: String) -> [String] {
            if case .array(let items)? = json[name] { items.compactMap(\.string) } else { [] }
        }
        func integer(_ name: String) -> Int? { if case .integer(let number)? = json[name] { number } else { nil } }
        guard let application = json["application"]?.string, let redirectURI = json["redirect_uri"]?.string,
            let scope = json["scope"]?.string, let challenge = json["challenge"]?.string, let time = integer("made_at")
        else { return nil }
        self.init(
            application: application,
            redirectURI: redirectURI,
            state: json["state"]?.string,
            nonce: json["nonce"]?.string,
            scope: scope,
            challenge: challenge,
            prompts: Set(list("prompts").compactMap { Prompt(rawValue: $0) }),
            maxAge: integer("max_age"),
            loginHint: json["login_hint"]?.string,
            locale: json["language"]?.string,
            madeAt: Date(timeIntervalSince1970: Double(time) / 1000),
            isAnsweredBySignUp: json["signed_up"] == true,
            chosen: json["chosen"]?.string.flatMap { ID($0) },
            expected: json["expected"]?.string.flatMap { ID($0) },
            needsNewSession: json["needs_new_session"] == true
        )
    }
}

extension UInt8 {
    /// Whether the byte is a letter of base64url (RFC 4648 §5).
    var isBase64URL: Bool { isASCIIAlphanumeric || self == UInt8(ascii: "-") || self == UInt8(ascii: "_") }
}
