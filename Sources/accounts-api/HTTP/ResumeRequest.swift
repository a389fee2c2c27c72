import Accounts

/// The body of a request that continues a sign-up on another device.
struct ResumeRequest {
    let isBearer: Bool
    let link: Token<Draft>
    /// A random text that identifies the client. If the answer is lost, the client can repeat the request with the same
    /// text. Nil if the body has no such text.
    let opening: LinkOpening?

    /// - Parameter isPage: whether the body is the form of the page, which has `confirmed` in place of `attempt`. The
    ///   page of an earlier version sends `yes`, which is not random, so such a request cannot be repeated.
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
