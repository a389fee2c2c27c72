import Accounts
import Logging

/// A refusal that may be a part of abuse. The log line of its request has a pseudonym of the client's network.
struct SecurityEvent: Sendable {
    enum Kind: String, Sendable {
        /// The problem is `forbidden-origin`, `rate-limited`, `busy` or `unavailable`.
        case refused
        case codeWrong = "code_wrong"
        case codeExhausted = "code_exhausted"
        case passwordWrong = "password_wrong"
        case signInFailed = "sign_in_failed"
    }

    let kind: Kind
    let problem: ProblemKind
    /// The name of the rate limit that refused the request; nil if there is none.
    let limit: String?

    /// Returns nil for a problem that people cause in ordinary use.
    init?(_ problem: Problem) {
        switch problem.slug {
        case .forbiddenOrigin, .rateLimited, .busy, .unavailable: kind = .refused
        case .signInFailed, .codeRequired: kind = .signInFailed
        case .validationFailed:
            guard let code = problem.refusalCodes.lazy.compactMap(Kind.init(rawValue:)).first else { return nil }
            kind = code
        default: return nil
        }
        (self.problem, limit) = (problem.slug, problem.limit)
    }

    /// - Parameters:
    ///   - step: the step that the request named, if the flow has it.
    ///   - network: the pseudonym of the client's network.
    ///   - site: the pseudonym of the largest network that may belong to the client alone. Differs from `network` for
    ///     IPv6.
    func metadata(step: StepName?, network: String, site: String) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "event": "\(kind.rawValue)", "problem": "\(problem.rawValue)", "network": "\(network)", "site": "\(site)",
        ]
        if let limit { metadata["limit"] = "\(limit)" }
        if let step { metadata["step"] = "\(step)" }
        return metadata
    }
}

extension Problem {
    /// The codes in the member `errors`.
    fileprivate var refusalCodes: [String] {
        guard case .array(let errors)? = members.first(where: { $0.name == "errors" })?.value else { return [] }
        return errors.compactMap { $0["code"]?.string }
    }
}
