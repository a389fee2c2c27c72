import Accounts

/// The body of a request that continues a sign-up on another device.
struct ResumeRequest {
    let isBearer: Bool
    let link: Token<Draft>
    /// Nil if the client does not want to repeat the request.
    let opening: LinkOpening?

    /// - Parameter isPage: the form of the page has `confirmed` in place of `attempt`. A page of an earlier version sends
    ///   `yes`, which identifies no client.
    init(_ body: Answers, isPage: Bool, in language: Language) throws {
        let attemptName: FieldName = isPage ? "confirmed" : "attempt"
        var transport = TokenTransport(body, otherMembers: ["code", attemptName])
        let link = body["code"]?.json?.string.flatMap { Token<Draft>($0) }
        if link == nil { transport.refusals.append(Refusal("code", body["code"] == nil ? .required : .badFormat)) }
        let attempt = body[attemptName].map { $0.json ?? false } ?? .null
        opening = attempt.string.flatMap { LinkOpening($0) }
        if !isPage, attempt != .null, opening == nil { transport.refusals.append(Refusal("attempt", .badFormat)) }
        guard transport.refusals.isEmpty, let link else { throw Problem.refused(transport.refusals, in: language) }
        isBearer = transport.isBearer
        self.link = link
    }
}
