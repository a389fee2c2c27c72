import Accounts

/// The body of a request that continues a sign-up on another device.
struct ResumeRequest {
    let isBearer: Bool
    let link: Token
    /// Nil if the client does not want to repeat the request.
    let opening: LinkOpening?

    /// - Parameter isPage: the form of the page also has `confirmed`.
    init(_ body: Answers, isPage: Bool, in language: Language) throws {
        var transport = TokenTransport(
            body,
            otherMembers: isPage ? ["code", "attempt", "confirmed"] : ["code", "attempt"]
        )
        let link = body["code"]?.json?.string.flatMap { Token($0) }
        if link == nil { transport.refusals.append(Refusal("code", body["code"] == nil ? .required : .badFormat)) }
        let attempt = body["attempt"].map { $0.json ?? false } ?? .null
        opening = attempt.string.flatMap { LinkOpening($0) }
        if attempt != .null, opening == nil { transport.refusals.append(Refusal("attempt", .badFormat)) }
        guard transport.refusals.isEmpty, let link else { throw Problem.refused(transport.refusals, in: language) }
        isBearer = transport.isBearer
        self.link = link
    }
}
