import Accounts
import HTTPTypes
import Hummingbird

/// Publishes the keys with which applications verify what the service has signed.
struct SigningKeyRoutes: Sendable {
    let keys: SigningKeys

    @Sendable func show(_ request: Request, _ context: RequestScope) async throws -> Answer {
        let lifetime = SigningKeys.publishedLifetime.seconds
        return Answer(json: try await keys.published, headers: [.cacheControl: "public, max-age=\(lifetime)"])
    }

    var operations: [Operation] {
        [.init(.get, "oauth/keys", .showSigningKeys, responses: [.ok: .anything], .signIn(show))]
    }
}

extension Operation.Act {
    static let showSigningKeys = Self(
        "showSigningKeys",
        "Returns the public keys that verify the tokens of the service, as a JWK set (RFC 7517)",
        needsKeys: true,
        credentials: .nothing
    )
}

extension SigningError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .invalid: nil
        case .unreadable: context.unreadable(.signingKey)
        case .database(let error): context.problem(for: error)
        }
    }
}
