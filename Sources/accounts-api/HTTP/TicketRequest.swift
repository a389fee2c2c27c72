import Accounts

/// The body of a request that exchanges a ticket, the secret in the link of a mail with a code, for another code.
struct TicketRequest {
    let isBearer: Bool
    let language: Language
    let ticket: Ticket

    /// - Parameters:
    ///   - negotiated: the language of the request. The body may replace it with another language of the flow.
    ///   - languages: the languages of the flow.
    init(_ body: Answers, in negotiated: Language, of languages: [Language]) throws {
        var transport = TokenTransport(body, otherMembers: ["ticket", "locale"])
        let requested = transport.locale(of: body, among: languages)
        let ticket = body["ticket"]?.json?.string.flatMap { Ticket($0) }
        if ticket == nil {
            transport.refusals.append(Refusal("ticket", body["ticket"] == nil ? .required : .badFormat))
        }
        guard transport.refusals.isEmpty, let ticket else { throw Problem.refused(transport.refusals, in: negotiated) }
        isBearer = transport.isBearer
        language = requested ?? negotiated
        self.ticket = ticket
    }
}
