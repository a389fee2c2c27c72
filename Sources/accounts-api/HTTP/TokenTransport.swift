import Accounts

/// The member `transport` of a body. It says whether the client gets its token in a cookie or as a bearer token.
struct TokenTransport {
    let isBearer: Bool
    var refusals: [Refusal]

    /// - Parameter otherMembers: the other members that the body may have.
    init(_ body: Answers, otherMembers: Set<FieldName>) {
        let unknown = body.members.map(\.name).filter { $0 != "transport" && !otherMembers.contains($0) }
        refusals = unknown.prefix(Refusal.maximumUnknownFields).map { Refusal($0, .unknownField) }
        let transport = body["transport"].map { $0.json ?? .null } ?? "cookie"
        if transport != "cookie", transport != "bearer" { refusals.append(Refusal("transport", .notAllowed)) }
        isBearer = transport == "bearer"
    }

    /// Returns the language in the member `locale`; nil if there is no such member, or if no language fits it. Adds a
    /// refusal if the member is neither a string nor null.
    mutating func locale(of body: Answers, among languages: [Language]) -> Language? {
        let locale = body["locale"].map { $0.json ?? false } ?? .null
        if locale != .null, locale.string == nil {
            refusals.append(Refusal("locale", .wrongType, ["expected": "string"]))
        }
        return locale.string.flatMap(languages.language)
    }
}
