import Accounts

/// The body of a request that starts a sign-up.
struct StartRequest {
    let isBearer: Bool
    let language: Language
    /// The ticket of an authorization request; nil if there is none.
    let request: String?
    /// The page to which the person returns, as the client says; nil if there is none.
    let returnURL: String?

    /// - Parameters:
    ///   - negotiated: the language of the request. The body may replace it with another language of the flow.
    ///   - languages: the languages of the flow.
    init(_ body: Answers, in negotiated: Language, of languages: [Language]) throws {
        var transport = TokenTransport(body, otherMembers: ["locale", "request", FieldName(ReturnTarget.name)])
        let requested = transport.locale(of: body, among: languages)
        if !transport.refusals.isEmpty { throw Problem.refused(transport.refusals, in: negotiated) }
        isBearer = transport.isBearer
        request = body["request"]?.json?.string
        returnURL = body[FieldName(ReturnTarget.name)]?.json?.string
        language = requested ?? negotiated
    }
}
