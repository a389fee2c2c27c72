package import Foundation

/// An authorization request of an application (OpenID Connect Core §3.1.2.1). The service supports only the
/// authorization code flow with PKCE (RFC 7636).
package struct AuthorizationRequest: Hashable, Sendable {
    package let application: String
    package let redirectURI: String
    package let state: String?
    let nonce: String?
    /// The requested scopes that the service supports, separated by spaces. The others are ignored.
    let scope: String
    /// The PKCE code challenge, made with the method S256.
    let challenge: String
    package private(set) var prompts: Set<Prompt>
    /// The maximum time in seconds since the person last proved who they are (`max_age`); nil for no maximum.
    let maxAge: Int?
    package let loginHint: String?
    /// The tag of the first language of `ui_locales` that the flow has; nil if it has none of the first 32
    /// (``Provider/language(of:)``).
    let locale: String?
    /// The time when a browser brought the request, by the clock of the database (``Provider/dated(_:_:)``). Before
    /// that function is called, it is the time when the request was read, by the clock of the server. After a sign-up
    /// for the request, it is the time of that sign-up; after a recovery, the beginning of the new session.
    package private(set) var madeAt: Date
    /// Whether the person has created an account for the request.
    private(set) var isAnsweredBySignUp = false
    /// The session whose account the person has chosen for the request, on the page that asks which account to use, or
    /// by signing in for the request; nil if the person has not chosen. A session that the person has begun for another
    /// purpose does not count as a choice, because any program on the device may send a request while such a session
    /// exists.
    private(set) var chosen: ID<AccountSession>?
    /// The account of the `id_token_hint`, which is the only one that can answer the request; nil for any account.
    private(set) var expected: ID<Account>?
    /// Whether only a session that begins after the request can answer it, because the service cannot verify the
    /// `id_token_hint` (``IDTokenHint/isVerified``).
    private(set) var needsNewSession = false

    /// Returns a copy with this time as ``madeAt``.
    package func made(at time: Date) -> AuthorizationRequest {
        var request = self
        request.madeAt = time
        return request
    }

    /// Returns a copy that only the account of the hint can answer.
    func expecting(_ hint: IDTokenHint) -> AuthorizationRequest {
        var request = self
        (request.expected, request.needsNewSession) = (hint.account, !hint.isVerified)
        return request
    }

    /// Whether a new account can answer the request: only if the application does not expect a certain account.
    package var allowsSignUp: Bool { expected == nil }

    /// Returns a copy that says that the person has chosen the account of the session.
    package func choosing(_ session: ID<AccountSession>) -> AuthorizationRequest {
        var request = self
        request.chosen = session
        return request
    }

    /// Returns a copy that says that the person has created an account for the request at that time. So the service
    /// asks the person neither to choose an account nor, for ten minutes, to prove again who they are.
    func answered(bySignUpAt time: Date) -> AuthorizationRequest {
        var request = made(at: time)
        request.isAnsweredBySignUp = true
        request.prompts.subtract([.create, .selectAccount])
        return request
    }

    /// A value of `prompt`: which page the application wants the person to see (OpenID Connect Core §3.1.2.1;
    /// Initiating User Registration 1.0).
    package enum Prompt: String, CaseIterable, Sendable {
        case none, login, create
        case selectAccount = "select_account"
    }

    package static let scopes = ["openid", "profile", "email", "offline_access"]

    /// The maximum age of a request in a ticket (``ticket(_:)``), in seconds since ``madeAt``. A request in a draft is
    /// stored as long as the draft.
    static let lifetime = 3600.0
}

/// An authorization request whose error is shown to the person, because the browser must not go back to the
/// application; an application that pushes such a request gets the error itself. The application, its redirect URI or the `request_uri` is not valid (RFC 6749 §4.1.2.1), or the
/// `prompt` is unknown (Initiating User Registration 1.0 §4.1).
package struct UnanswerableRequest: Error, Hashable, Sendable {
    package let detail: String
}

/// An authorization request whose error goes back to the application.
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
    ///   - parameters: the query of `/oauth/authorize`, or the form of a pushed request.
    ///   - languages: the languages of the flow.
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
            throw refusal("invalid_request", "The prompt none or create must be the only prompt.")
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
        else {
            throw refusal(
                "invalid_request",
                "PKCE is required: the code_challenge_method S256, and a code_challenge of 43 characters."
            )
        }
        let scopes = parameters.words("scope")
        guard scopes.contains("openid") else { throw refusal("invalid_scope", "The scope must contain openid.") }
        var maxAge: Int?
        if let text = parameters["max_age"] {
            guard let seconds = Int(text), seconds >= 0, text.utf8.count < 10 else {
                throw refusal("invalid_request", "The max_age is not a number of seconds.")
            }
            maxAge = seconds
        }
        for name in ["state", "nonce", "login_hint"] {
            if let text = parameters[name], JSON.string(text).bytes.count - 2 > Self.maximumBytes {
                throw refusal("invalid_request", "The \(name) has more than \(Self.maximumBytes) bytes as JSON.")
            }
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

    /// The maximum length of `state`, of `nonce` and of `login_hint`, written as JSON strings without their quotes.
    /// With these lengths and the longest redirect URI, a ticket fits in a URL.
    static let maximumBytes = 1024

    private static let knownPrompts =
        "The supported values are \(Prompt.allCases.map(\.rawValue).joined(separator: ", "))."
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
    /// Whether the byte is a character of base64url (RFC 4648 §5).
    var isBase64URL: Bool { isASCIIAlphanumeric || self == UInt8(ascii: "-") || self == UInt8(ascii: "_") }
}
