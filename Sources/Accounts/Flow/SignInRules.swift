internal import Yams

/// How people sign in to the accounts of a flow.
package struct SignInRules: Sendable {
    /// The methods by which people can sign in; none if accounts have neither a password nor an address as identifier.
    package let methods: Set<Method>
    /// Whether the commit of a sign-up also signs the person in.
    package let startsSessionAtCommit: Bool

    package enum Method: String, CaseIterable, Sendable {
        case password
        /// A code that is mailed to the address of the account.
        case code
    }

    /// Reads `sign_in` and `after_commit`, such as `sign_in: [password, code]` and `after_commit: session`.
    ///
    /// - Parameter steps: nil if the steps have mistakes. Then this initializer does not check whether the steps have
    ///   the fields that the methods need.
    init(in entry: inout YAMLEntry, _ steps: [Step]?) throws(YAMLFileError) {
        let fields = steps?.flatMap(\.fields) ?? []
        let hasPassword = fields.contains { $0.kind.takesSecret && $0.kind.repeatedField == nil }
        let hasAddress = fields.contains { $0.isIdentifier && type(of: $0.kind).name == EmailField.name }
        // Reads both keys before a mistake in one of them can throw: an unread key is reported as unknown.
        let methodList = entry.node("sign_in")
        startsSessionAtCommit = try entry.word("after_commit", among: ["session", "none"]) != "none"
        if let node = methodList {
            let names = (node.sequence ?? []).compactMap { $0.scalar?.string }
            let methods = names.compactMap { Method(rawValue: $0) }
            guard !methods.isEmpty, methods.count == node.sequence?.count, Set(methods).count == methods.count else {
                let known = Method.allCases.map(\.rawValue).joined(separator: ", ")
                throw entry.error("\"sign_in\" must be a list of \(known), each at most once", at: "sign_in")
            }
            if steps != nil, methods.contains(.password), !hasPassword {
                throw entry.error(
                    "\"sign_in\" has password, so the flow needs a field of kind \"password\"",
                    at: "sign_in"
                )
            }
            if steps != nil, methods.contains(.code), !hasAddress {
                throw entry.error(
                    "\"sign_in\" has code, so the flow needs an identifier of kind \"email\"",
                    at: "sign_in"
                )
            }
            self.methods = Set(methods)
        } else {
            methods = hasPassword ? [.password] : hasAddress ? [.code] : []
        }
    }
}
