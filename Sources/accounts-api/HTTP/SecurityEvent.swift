import Accounts
import Logging

/// A refusal that may be a part of abuse. The log line of the refused request has pseudonyms of the client's
/// ``Network`` and of the ``Network/site`` to which this network belongs.
struct SecurityEvent: Sendable {
    enum Kind: String, Sendable {
        /// The problem is `forbidden-origin`, `rate-limited`, `busy` or `unavailable`.
        case refused
        case codeWrong = "code_wrong"
        case codeExhausted = "code_exhausted"
        case passwordWrong = "password_wrong"
        case signInFailed = "sign_in_failed"
        /// The caller has not authenticated as an application, for example because its secret is wrong or missing, or
        /// because there is no such application.
        case applicationRefused = "application_refused"
    }

    let kind: Kind
    /// The name of the rate limit that refused the request; nil if there is none.
    let limit: String?

    /// Returns nil for a problem that is no sign of abuse.
    init?(_ problem: Problem) {
        switch problem.slug {
        case .forbiddenOrigin, .rateLimited, .busy, .unavailable: kind = .refused
        case .signInFailed, .codeRequired: kind = .signInFailed
        case .validationFailed:
            guard let code = problem.refusalCodes.lazy.compactMap(Kind.init(rawValue:)).first else { return nil }
            kind = code
        default: return nil
        }
        limit = problem.limit
    }

    /// Returns nil for an error that has another cause than a failed authentication of the application.
    init?(_ error: OAuthError) {
        guard error.isUnauthenticated else { return nil }
        (kind, limit) = (.applicationRefused, nil)
    }

    /// - Parameters:
    ///   - network: the pseudonym of the client's network.
    ///   - site: the pseudonym of the largest network that may belong to the client alone. Differs from `network` for
    ///     IPv6.
    func metadata(network: String, site: String) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "event": "\(kind.rawValue)", "network": "\(network)", "site": "\(site)",
        ]
        if let limit { metadata["limit"] = "\(limit)" }
        return metadata
    }
}
