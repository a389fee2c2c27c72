/// What the commit of a draft does. Each purpose has a flow of its own, with its own paths and its own token.
package enum FlowPurpose: String, CaseIterable, Sendable {
    /// Makes an account.
    case signup
    /// Replaces a forgotten password.
    case recovery
    /// Moves an account to another address.
    case emailChange = "email-change"

    package var path: String { "/\(rawValue)" }

    /// Precedes the name of the flow in the id that drafts record. No flow file can contain a slash in its name.
    var prefix: String { self == .signup ? "" : "\(rawValue)/" }

    /// The purpose of a draft that has recorded this id.
    init(ofFlow flow: String) { self = Self.allCases.first { $0.owns(flow) } ?? .signup }

    /// Whether a draft that has recorded this id has this purpose.
    func owns(_ flow: String) -> Bool {
        self == .signup ? !flow.contains("/") : flow.hasPrefix(prefix)
    }

    /// Tells the limits of this purpose apart: a stranger who uses up the mails of an address in sign-ups must not use up
    /// those with which its owner recovers the account.
    var limitSubject: [[UInt8]] { self == .signup ? [] : [Array(rawValue.utf8)] }
}

extension Flow {
    /// A flow with those steps and another purpose, which has the name, the languages and the limits of this one.
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
