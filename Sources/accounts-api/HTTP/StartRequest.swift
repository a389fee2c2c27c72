import Accounts

/// The body of a request that starts a draft of any flow.
struct StartRequest {
    let isBearer: Bool
    let language: Language
    /// The encrypted authorization request of an application (``AuthorizationRequest/ticket(_:)``); nil if there is
    /// none.
    let request: String?
    /// The URL to which the client wants the person to return, not checked yet; nil if there is none.
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
