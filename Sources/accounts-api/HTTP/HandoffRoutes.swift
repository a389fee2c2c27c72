import Accounts
import HTTPTypes
import Hummingbird

/// The handlers that continue a sign-up on another device, by a link in a mail.
struct HandoffRoutes: Sendable {
    let signups: Signups
    let representations: Representations
    let cookie: TokenCookie
    let pages: Pages
    let signupRoutes: SignupRoutes

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

    /// Shows the page to which the link in the mail leads. The token is in the fragment of the link, which browsers do
    /// not send: the script of the page posts it, and a person without script types it. The page is HTML for every
    /// `Accept`.
    ///
    /// Mails of earlier versions of the service have the token in the query.
    @Sendable func askToResume(_ request: Request, _ context: RequestScope) async throws -> Response {
        guard let code = request.uri.queryParameters["code"] else {
            return pages.response(pages.enterLinkCode(in: context.language), in: context.language)
        }
        guard let link = Token<Draft>(String(code)) else {
            throw Problem(.notFound, "The link is incomplete. Open the complete link from the mail.")
        }
        if try await wasResumedHere(link, context) { return Pages.seeOther(signups.flow.purpose.path) }
        return try await pages.response(confirmation(of: link, context), in: context.language)
    }

    /// Whether the link is not valid and this browser has the unfinished sign-up to which the link belongs. Probably
    /// this browser has used the link before.
    func wasResumedHere(_ link: Token<Draft>, _ context: RequestScope) async throws -> Bool {
        guard let token = context.credentials.token(of: Draft.self), token.id == link.id,
            try await signups.maskedAddress(of: link) == nil
        else { return false }
        return try await signupRoutes.openDraft(of: token) != nil
    }

    /// The page that asks whether to continue the sign-up of the link on this device. Mail scanners open links and run
    /// the scripts of pages, so showing this page changes nothing.
    func confirmation(of link: Token<Draft>, _ context: RequestScope) async throws -> Page {
        let address = try await signups.maskedAddress(of: link)
        let replacesOther = try await hasOtherDraft(context, than: link)
        return pages.resume(link, of: address, replacingOther: replacesOther, in: context.language)
    }

    /// Whether the token of the request belongs to another unfinished sign-up than that of the link. A person who
    /// continues with the link loses that other sign-up. A sign-up that cannot be decrypted now counts as unfinished.
    private func hasOtherDraft(_ context: RequestScope, than link: Token<Draft>) async throws(FindError) -> Bool {
        guard let token = context.credentials.token(of: Draft.self), token.id != link.id else { return false }
        do throws(FindError) { return try await signups.find(token).account == nil } catch {
            switch error {
            case .unknown, .ended: return false
            case .unreadable: return true
            case .database: throw error
            }
        }
    }

    @Sendable func resume(_ request: Request, _ context: RequestScope) async throws -> Answer {
        let body = try ResumeRequest(
            context.answers,
            isPage: context.representation == .page,
            in: context.language
        )
        // Throws if the draft of the request's token cannot be read or decrypted now, because the new cookie would
        // replace the cookie of that draft.
        _ = try await signupRoutes.openDraft(of: context.credentials.token(of: Draft.self))
        let (draft, token) = try await signups.from(context.network).resume(body.link, openedBy: body.opening)
        return representations.answer(draft, with: token, isBearer: body.isBearer, cookie: cookie, status: .ok)
    }
}

extension HandoffRoutes {
    var operations: [Operation] {
        [
            .init(.post, "signup/handoff", .handOff, responses: [.accepted: .handoff], .draft(handOff)),
            .init(
                .get,
                "signup/resume",
                .askToResume,
                responses: [.ok: .page, .seeOther: .nothing, .gone: .page],
                .plain(askToResume)
            ),
            .init(.post, "signup/resume", .resume, responses: [.ok: .draft], .open(resume)),
        ]
    }
}

extension Operation.Act {
    static let handOff = Self(
        "handOff",
        "Mails a link that continues the sign-up on another device",
        problems: [.stepLocked, .alreadyCommitted, .staleRevision, .rateLimited, .notFound]
    )

    static let askToResume = Self(
        "askToResume",
        "Shows a page that asks whether to continue on this device; the link stays valid",
        query: ["code"],
        problems: [.notFound],
        needsKeys: true,
        credentials: .token(isRequired: false)
    )

    static let resume = Self(
        "resume",
        "Moves the sign-up to this device; the token of the previous device becomes invalid",
        body: .members("Resume"),
        problems: [.validationFailed, .rateLimited],
        needsKeys: true,
        credentials: .token(isRequired: false)
    )
}
