/// The purpose of a draft, which its commit achieves. Each purpose has its own flow with its own paths. The token of a
/// draft is accepted only at the paths of its purpose.
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

    /// The parts that this purpose adds to the subject by which rate limits count the mails to an address and the codes
    /// entered for an address. So each purpose has its own counts. Otherwise a stranger could use up the mails to an
    /// address in sign-ups, and so prevent the owner from recovering the account. The mails that tickets (``Ticket``)
    /// cause are counted for all purposes together.
    var limitSubject: [[UInt8]] { self == .signup ? [] : [Array(rawValue.utf8)] }
}

extension Flow {
    /// Returns a flow with the given purpose and steps. Its name and its digest are those of this flow with
    /// ``FlowPurpose/prefix`` in front, and its lifetimes are ``DraftExpiry/ofChange``. The version, the languages, the
    /// time zone, the name of the service, the sign-in rules and the limits are those of this flow.
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
