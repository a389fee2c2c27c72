import Accounts
import HTTPTypes
import Hummingbird

/// The handlers of the endpoints that applications call: tokens, introspection, revocation, user info, pushed requests
/// and metadata. Errors of OAuth have the form of RFC 6749 §5.2. Other errors, such as a rate limit, are problems
/// (RFC 9457).
struct ProviderRoutes: Sendable {
    let provider: Provider

    // MARK: Tokens

    @Sendable func token(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await answering(context) {
            let parameters = try await Self.parameters(of: request)
            let application = try application(of: request, parameters)
            switch parameters["grant_type"] {
            case "authorization_code": return try await provider.redeem(parameters, by: application).json
            case "refresh_token": return try await provider.refresh(parameters, by: application).json
            case nil: throw OAuthError("invalid_request", "The grant_type is required.")
            default:
                throw OAuthError(
                    "unsupported_grant_type",
                    "The supported grant types are authorization_code and refresh_token."
                )
            }
        }
    }

    @Sendable func push(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await answering(context, .created) {
            let parameters = try await Self.parameters(of: request)
            let uri = try await provider.from(context.network).push(
                parameters,
                by: application(of: request, parameters)
            )
            return ["request_uri": .string(uri), "expires_in": .integer(PushedRequest.lifetime)]
        }
    }

    @Sendable func introspect(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await answering(context) {
            let parameters = try await Self.parameters(of: request)
            let application = try application(of: request, parameters)
            guard !application.isPublic else { throw OAuthError.invalidClient }
            return try await provider.introspect(Self.token(in: parameters), by: application)
        }
    }

    @Sendable func revoke(_ request: Request, _ context: RequestScope) async throws -> Response {
        try await answering(context) {
            let parameters = try await Self.parameters(of: request)
            let application = try application(of: request, parameters)
            try await provider.revoke(Self.token(in: parameters), by: application)
            return nil
        }
    }

    private static func token(in parameters: OAuthParameters) throws(OAuthError) -> String {
        guard let token = parameters["token"] else { throw OAuthError("invalid_request", "The token is required.") }
        return token
    }

    @Sendable func userInfo(_ request: Request, _ context: RequestScope) async throws -> Response {
        guard context.credentials.hasBearer, let text = context.credentials.text else {
            // A request without a token gets no error code (RFC 6750 §3.1).
            return Answer(json: .object([]), status: .unauthorized, headers: [.wwwAuthenticate: "Bearer"]).response
        }
        guard let token = try await provider.active(text), let claims = provider.userInfo(token) else {
            let error = Self.invalidToken
            let challenge = "Bearer error=\"\(error.code)\", error_description=\"\(error.description)\""
            return Answer(json: error.json, status: .unauthorized, headers: [.wwwAuthenticate: challenge]).response
        }
        return Answer(json: claims).response
    }

    private static let invalidToken = OAuthError(
        "invalid_token",
        "The access token is not valid: for example, it has expired, or its session has ended."
    )

    // MARK: Documents

    @Sendable func metadata(_ request: Request, _ context: RequestScope) -> Response {
        Answer(json: provider.metadata, headers: [.cacheControl: "public, max-age=300"]).response
    }

    // MARK: Requests and answers

    private static func parameters(of request: Request) async throws -> OAuthParameters {
        try BodyReader.refuseContentCoding(in: request.headers, accept: BodyType.form.rawValue)
        guard BodyType(request.headers[.contentType]) == .form else {
            throw OAuthError("invalid_request", "The body is not application/x-www-form-urlencoded.")
        }
        let body = try await BodyReader.read(request.body, of: request.bodyLength, upTo: BodyReader.maximumBytes)
        return try body.withBytes { (bytes) throws(OAuthError) in try OAuthParameters(form: bytes) }
    }

    /// The application that sends the request. Throws `invalid_client` if the application is unknown, if its HTTP Basic
    /// header is malformed, if its secret is wrong, or if it sends no secret and is not public (RFC 6749 §2.3). Throws
    /// `invalid_request` if the application authenticates by HTTP Basic and the form also has a secret or another
    /// `client_id`.
    private func application(
        of request: Request,
        _ parameters: OAuthParameters
    ) throws(OAuthError) -> Accounts.Application {
        if let header = request.headers[.authorization], header.lowercased().hasPrefix("basic ") {
            guard let credentials = BasicCredentials(header) else { throw .invalidClient }
            guard parameters.clientSecret == nil, parameters["client_id"].map({ $0 == credentials.name }) ?? true else {
                throw OAuthError(
                    "invalid_request",
                    "The application authenticates in two ways, or its two client ids differ."
                )
            }
            guard let application = provider.application(credentials.name),
                application.accepts(secret: credentials.password)
            else { throw .invalidClient }
            return application
        }
        guard let application = parameters["client_id"].flatMap({ provider.application($0) }) else {
            throw .invalidClient
        }
        if let secret = parameters.clientSecret {
            guard application.accepts(secret: secret.secret) else { throw .invalidClient }
        } else if !application.isPublic {
            throw .invalidClient
        }
        return application
    }

    /// Answers with the JSON that `act` returns, or with the OAuth error that it throws. Rethrows other errors.
    private func answering(
        _ context: RequestScope,
        _ status: HTTPResponse.Status = .ok,
        _ act: () async throws -> JSON?
    ) async throws -> Response {
        do {
            return try await Answer(json: act(), status: status).response
        } catch let error as OAuthError {
            return error.response(to: context)
        } catch ProviderError.oauth(let error) {
            return error.response(to: context)
        }
    }
}

extension OAuthError {
    /// Returns the response with this error, and passes the error to the request log.
    func response(to context: RequestScope) -> Response {
        context.subject.set(self)
        return Answer(
            json: json,
            status: isUnauthenticated ? .unauthorized : .badRequest,
            headers: isUnauthenticated ? [.wwwAuthenticate: "Basic realm=\"applications\""] : [:]
        ).response
    }
}

extension ProviderError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .oauth(let error): Problem(.malformedRequest, "\(error.code): \(error.description)")
        case .limited(let reached): .limited(reached)
        case .signing(let error as any Error), .database(let error as any Error): context.problem(for: error)
        }
    }
}

extension ProviderRoutes {
    var operations: [Operation] {
        func json(
            _ method: HTTPRequest.Method,
            _ path: String,
            _ act: Operation.Act,
            _ handle: @escaping @Sendable (Request, RequestScope) async throws -> Response,
            _ status: HTTPResponse.Status = .ok,
            _ body: Operation.Shape = .anything,
            unauthorized: Operation.Shape = .oauthError
        ) -> Operation {
            .init(
                method,
                path,
                act,
                responses: [status: body, .badRequest: .oauthError, .unauthorized: unauthorized],
                .application(handle)
            )
        }
        return [
            json(.get, ".well-known/openid-configuration", .providerMetadata, metadata),
            json(.get, ".well-known/oauth-authorization-server", .authorizationServerMetadata, metadata),
            json(.post, "oauth/token", .token, token),
            json(.post, "oauth/par", .pushRequest, push, .created),
            json(.get, "oauth/userinfo", .userInfo, userInfo, unauthorized: .anything),
            json(.post, "oauth/userinfo", .userInfoForm, userInfo, unauthorized: .anything),
            json(.post, "oauth/introspect", .introspect, introspect),
            json(.post, "oauth/revoke", .revoke, revoke, .ok, .nothing),
        ]
    }
}

extension Operation.Act {
    static let providerMetadata = Self("providerMetadata", "Describes the OpenID provider")
    static let authorizationServerMetadata = Self(
        "authorizationServerMetadata",
        "Describes the OAuth authorization server (RFC 8414)"
    )
    static let token = ofApplication(
        "token",
        "Exchanges a code or a refresh token for tokens",
        [.required("grant_type"), "code", "redirect_uri", "code_verifier", "refresh_token", "scope"]
    )
    static let pushRequest = ofApplication(
        "pushRequest",
        "Stores an authorization request for a minute",
        authorizeParameters.filter { $0.name != "client_id" && $0.name != "request_uri" }
    )
    static let userInfo = Self(
        "userInfo",
        "Returns the claims of the person",
        needsKeys: true,
        credentials: .accessToken
    )
    static let userInfoForm = Self(
        "userInfoForm",
        "Returns the claims of the person, by POST",
        needsKeys: true,
        credentials: .accessToken
    )
    static let introspect = ofApplication(
        "introspect",
        "Returns whether a token of the application is active, with its claims",
        [.required("token")]
    )
    static let revoke = ofApplication("revoke", "Revokes a token of the application", [.required("token")])

    /// An act of an application, which authenticates by HTTP Basic or in the form.
    private static func ofApplication(
        _ name: String,
        _ summary: String,
        _ parameters: [Operation.Parameter]
    ) -> Self {
        let credentials: [Operation.Parameter] = ["client_id", "client_secret"]
        return Self(
            name,
            summary,
            body: .parameters(parameters + credentials),
            needsKeys: true,
            credentials: .application(isRequired: false)
        )
    }
}
