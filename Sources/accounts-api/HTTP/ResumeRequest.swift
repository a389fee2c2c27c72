import Accounts

/// The body of a request that continues a sign-up on another device.
struct ResumeRequest {
    let isBearer: Bool
    let link: Token

    /// - Parameter isPage: the form of the page also has `confirmed`.
    init(_ body: Answers, isPage: Bool, in language: Language) throws {
        var transport = TokenTransport(body, otherMembers: isPage ? ["code", "confirmed"] : ["code"])
        let link = body["code"]?.json?.string.flatMap { Token($0) }
        if link == nil { transport.refusals.append(Refusal("code", body["code"] == nil ? .required : .badFormat)) }
        guard transport.refusals.isEmpty, let link else { throw Problem.refused(transport.refusals, in: language) }
        isBearer = transport.isBearer
        self.link = link
    }
}
