import Accounts
import HTTPTypes
import Hummingbird

/// The handlers that exchange a ticket for another code. A ticket is a secret in the link of a mail with a code
/// (``Ticket``).
struct TicketRoutes: Sendable {
    let site: FlowSite

    private var signups: Signups { site.signups }
    private var signupRoutes: SignupRoutes { site.signupRoutes }

    /// Shows the page to which the link in the mail leads. Mail scanners open links, so this changes nothing. The page
    /// is HTML for every `Accept`.
    @Sendable func askToRedeem(_ request: Request, _ context: RequestScope) async throws -> Response {
        guard let ticket = request.uri.queryParameters["ticket"].flatMap({ Ticket(String($0)) }) else {
            // A mail program may have cut the link.
            if context.representation == .page {
                return site.pages.response(site.pages.incompleteTicket(in: context.language), in: context.language)
            }
            throw Problem(.notFound, "The link is incomplete. Open the complete link from the mail.")
        }
        let address = try await signups.maskedAddress(of: ticket)
        let draft = try await signupRoutes.openDraft(of: context.credentials.token(of: Draft.self))
        let replaces = draft.map { !hasOnlyAddress($0, address) } ?? false
        let page = site.pages.ticket(ticket, for: address, replacesSignup: replaces, in: context.language)
        return site.pages.response(page, in: context.language)
    }

    /// Whether the draft is probably for the address of the ticket, and has no proved address. Then the person
    /// probably loses no answers, because the steps after the code are still locked.
    ///
    /// - Parameter address: the masked address of the ticket; nil if the ticket is invalid.
    private func hasOnlyAddress(_ draft: Draft, _ address: String?) -> Bool {
        signups.identifyingAddress(in: draft.values)?.maskedName == address
            && !draft.proofs.values.contains(where: \.isProved)
    }

    /// Starts a new draft for the address of the ticket, even if the request has the token of an open draft.
    @Sendable func redeem(_ request: Request, _ context: RequestScope) async throws -> Answer {
        let body = try TicketRequest(context.answers, in: context.language, of: signups.flow.languages)
        // Throws if the draft of the request's token cannot be read or decrypted now, because the new cookie would
        // replace the cookie of that draft.
        _ = try await signupRoutes.openDraft(of: context.credentials.token(of: Draft.self))
        let (draft, token) = try await signups.from(context.network).redeem(body.ticket, in: body.language)
        var answer = site.representations.answer(
            draft,
            with: token,
            isBearer: body.isBearer,
            cookie: site.cookie,
            status: .created
        )
        answer.headers[.location] = site.purpose.path
        return answer
    }
}

extension TicketRoutes {
    var operations: [Operation] {
        [
            .init(
                .get,
                "\(site.purpose.rawValue)/ticket",
                .askToRedeem,
                responses: [.ok: .page, .gone: .page],
                of: site.purpose,
                .plain(askToRedeem)
            ),
            .init(
                .post,
                "\(site.purpose.rawValue)/ticket",
                .redeem,
                responses: [.created: .draft],
                of: site.purpose,
                .open(redeem)
            ),
        ]
    }
}

extension Operation.Act {
    static let askToRedeem = Self(
        "askToRedeem",
        "Shows a page that asks whether to mail another code; the link in the mail stays valid",
        query: [.required("ticket")],
        problems: [.notFound],
        needsKeys: true,
        credentials: .token(isRequired: false)
    )

    static let redeem = Self(
        "redeem",
        "Exchanges the ticket in a mail for a new draft with its address, and mails another code",
        body: .members("Redeem"),
        problems: [.validationFailed, .rateLimited],
        needsKeys: true,
        credentials: .token(isRequired: false)
    )
}
