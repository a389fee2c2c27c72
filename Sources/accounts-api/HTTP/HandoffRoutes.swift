import Accounts
import HTTPTypes
import Hummingbird

/// The handlers that continue a sign-up on another device, by a link in a mail.
struct HandoffRoutes: Sendable {
    let signups: Signups
    let representations: Representations
    let session: Session
    let pages: Pages

    @Sendable func handOff(_ request: Request, _ context: DraftContext) async throws -> Answer {
        try await signups.from(context.network).handOff(
            context.draft,
            at: request.expectedRevision(of: context.draft)
        )
        return Answer(
            json: [
                "resend_after": .integer(Signups.handoffPause.seconds),
                "expires_in": .integer(Signups.handoffLifetime.seconds),
            ],
            status: .accepted
        )
    }

    /// The target of the link in the mail. Mail scanners open links, so this changes nothing. The answer is always a
    /// page.
    @Sendable func askToResume(_ request: Request, _ context: RequestScope) async throws -> Response {
        guard let link = request.uri.queryParameters["code"].flatMap({ Token(String($0)) }) else {
            throw Problem(.notFound, "The link is incomplete. Open the complete link from the mail.")
        }
        let address = try await signups.maskedAddress(of: link)
        return pages.response(pages.resume(link, of: address, in: context.language), in: context.language)
    }

    @Sendable func resume(_ request: Request, _ context: RequestScope) async throws -> Answer {
        let body = try ResumeRequest(context.answers, in: context.language)
        let (draft, token) = try await signups.from(context.network).resume(body.link)
        return representations.answer(draft, with: token, isBearer: body.isBearer, session: session, status: .ok)
    }
}
