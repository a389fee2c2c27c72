/// The purpose of a draft, which its commit achieves. Each purpose has a flow of its own, with its own paths and its
/// own token.
package enum FlowPurpose: String, CaseIterable, Sendable {
    /// To create an account.
    case signup
    /// To replace a forgotten password.
    case recovery
    /// To move an account to another address.
    case emailChange = "email-change"

    package var path: String { "/\(rawValue)" }

    /// The beginning of the flow's name in the ids that drafts store, such as `recovery/`; empty for a sign-up. The
    /// name in a flow file cannot contain a slash.
    var prefix: String { self == .signup ? "" : "\(rawValue)/" }

    /// The purpose of a draft that stores this flow id.
    init(ofFlow flow: String) { self = Self.allCases.first { $0.owns(flow) } ?? .signup }

    /// Whether a draft that stores this flow id has this purpose.
    func owns(_ flow: String) -> Bool {
        self == .signup ? !flow.contains("/") : flow.hasPrefix(prefix)
    }

    /// Added to the subject of the rate limits of an address, so that each purpose has limits of its own. A stranger
    /// who uses up the mails to an address in sign-ups must not prevent its owner from recovering the account.
    var limitSubject: [[UInt8]] { self == .signup ? [] : [Array(rawValue.utf8)] }
}

extension Flow {
    /// Returns a flow with those steps and another purpose. It has the name, the languages, the sign-in rules and the
    /// limits of this flow, and the lifetimes ``DraftExpiry/ofChange``.
    func with(_ purpose: FlowPurpose, _ steps: [Step]) -> Flow {
        var flow = Flow(
            name: purpose.prefix + name,
            version: version,
            languages: languages,
            knownLanguages: knownLanguages,
            zone: zone,
            serviceName: serviceName,
            expiry: .ofChange,
            steps: steps,
            signIn: signIn,
            limits: limits
        )
        flow.purpose = purpose
        flow.digest = purpose.prefix + digest
        return flow
    }
}
