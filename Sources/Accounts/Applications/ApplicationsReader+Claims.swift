extension ApplicationsReader {
    /// Reads the list `claims`. Returns the fields with these names, without those that have mistakes.
    mutating func claims(in entry: inout YAMLEntry) -> [Field] {
        var names: Set<String> = []
        return items("claims", in: &entry, upTo: 100).compactMap { item in
            guard let field = flow.field(named: FieldName(item.text)) else {
                collect(item.error("the flow \(flow.id) has no field \"\(item.text)\""))
                return nil
            }
            let claims = field.kind.claims(.null, of: field, isProved: false).map(\.name)
            guard let mistake = mistake(in: claims, of: field, beside: names) else {
                names.formUnion(claims)
                return field
            }
            collect(item.error(mistake))
            return nil
        }
    }

    private func mistake(in claims: [String], of field: Field, beside others: Set<String>) -> String? {
        if claims.isEmpty { return "a field of kind \"\(type(of: field.kind).name)\" cannot be a claim" }
        let name = field.name.rawValue
        if claims.contains(name) {
            if Self.defined.contains(name) {
                return "\"\(name)\" cannot be a claim: the service gives it another meaning"
            }
            if Self.isTrusted(name) {
                return "the name \"\(name)\" is reserved for claims that applications trust: rename the field"
            }
        }
        return claims.first(where: others.contains).map { "another entry already gives the claim \"\($0)\"" }
    }

    /// Whether applications would trust a claim with this name as a statement of the service. People fill in the field,
    /// so it must not become such a claim.
    private static func isTrusted(_ name: String) -> Bool { rights.contains(name) || name.hasSuffix("_verified") }

    /// Names of claims by which applications may grant rights.
    private static let rights: Set<String> = ["roles", "groups", "entitlements", "permissions"]

    /// Names of claims that specifications of tokens define (such as RFC 7519, RFC 7662, RFC 8417, RFC 8693, RFC 9068
    /// and OpenID Connect Core), that this service defines, or that an event has beside the claims of the account
    /// (`id`).
    private static let defined: Set<String> = [
        "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "id", "auth_time", "nonce", "acr", "amr", "azp", "at_hash",
        "c_hash", "s_hash", "sid", "events", "toe", "txn", "client_id", "token_type", "active", "scope", "cnf", "act",
        "may_act", "typ", "account_created", "_claim_names", "_claim_sources",
    ]
}
