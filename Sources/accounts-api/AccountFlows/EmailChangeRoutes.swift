import Accounts
import HTTPTypes
import Hummingbird

/// The handlers that start a change of an account's e-mail address, and that undo a completed one. ``SignupRoutes`` has
/// the handlers of the steps and the commit.
struct EmailChangeRoutes: Sendable {
    let site: FlowSite
    let sessions: Sessions

    /// Starts a change for the account of the session. The answer has the token of the draft, which is not the token of
    /// the session.
    @Sendable func start(_ request: Request, _ context: SessionContext) async throws -> Answer {
        let languages = site.signups.flow.languages
        let body = try StartRequest(context.answers, in: context.language, of: languages)
        let (draft, token) = try await begin(context.session, from: context.network, in: body.language)
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

    func begin(
        _ session: AccountSession,
        from network: Network,
        in language: Language,
        by form: FirstForm = FirstForm()
    ) async throws -> (draft: Draft, token: Token<Draft>) {
        guard session.isConfirmed else { throw SignInError.confirmationRequired }
        return try await site.signups.from(network).startChange(by: session, in: language, by: form)
    }

    /// Shows the page to which the link in the mail to the old address leads. Mail scanners open links, so this changes
    /// nothing.
    @Sendable func askToUndo(_ request: Request, _ context: RequestScope) async throws -> Response {
        guard let token = request.uri.queryParameters["token"].flatMap({ AddressToken(String($0)) }) else {
            throw Problem(.notFound, "The link is incomplete. Open the complete link from the mail.")
        }
        let isValid = try await sessions.canRestoreAddress(token)
        return site.pages.response(site.pages.undo(isValid ? token : nil, in: context.language), in: context.language)
    }

    @Sendable func undo(_ request: Request, _ context: RequestScope) async throws -> Answer {
        let token = context.answers["token"]?.json?.string.flatMap { AddressToken($0) }
        guard let token, context.answers.members.count == 1 else {
            throw Problem.refused([Refusal("token", .badFormat)], in: context.language)
        }
        try await sessions.from(context.network, SessionClient(browser: nil, device: nil)).restoreAddress(token)
        return Answer(status: .noContent)
    }
}

extension EmailChangeRoutes {
    var operations: [Operation] {
        let root = site.purpose.rawValue
        return [
            .init(.post, root, .startEmailChange, responses: [.created: .draft], of: site.purpose, .session(start)),
            .init(
                .get,
                "\(root)/undo",
                .askToUndoEmailChange,
                responses: [.ok: .page, .gone: .page],
                of: site.purpose,
                .plain(askToUndo)
            ),
            .init(
                .post,
                "\(root)/undo",
                .undoEmailChange,
                responses: [.noContent: .nothing, .ok: .page],
                of: site.purpose,
                .open(undo)
            ),
        ]
    }
}

extension Operation.Act {
    static let startEmailChange = Self(
        "start",
        "Starts a change of the address of the session's account",
        body: .members("Start", isRequired: false),
        problems: [.confirmationRequired, .validationFailed, .rateLimited]
    )

    static let askToUndoEmailChange = Self(
        "askToUndo",
        "Shows a page that asks whether to bring the old address back; the link stays valid",
        problems: [.notFound],
        needsKeys: true
    )

    static let undoEmailChange = Self(
        "undo",
        "Brings the old address back, by the token in the mail to it; all sessions end and the password is removed",
        body: .members("UndoEmailChange"),
        problems: [.validationFailed],
        needsKeys: true
    )
}

extension Pages {
    /// Asks whether to bring the old address back.
    ///
    /// - Parameter token: the token in the link; nil if the link does not work any more. Then the page says so, with
    ///   the status 410.
    func undo(_ token: AddressToken?, in language: Language) -> Page {
        guard let token else {
            var page = form(FormPage(title: .undoTitle, text: [.undoOver], action: ""), in: language)
            page.status = .gone
            return page
        }
        return form(
            FormPage(
                title: .undoTitle,
                text: [.undoText],
                action: "\(FlowPurpose.emailChange.path)/undo",
                hidden: [("token", token.text)],
                button: .undoTitle
            ),
            in: language
        )
    }

    /// The page after the old address is restored. The account has no password then, so the page leads to a recovery,
    /// or to the sign-in if the flow has no passwords.
    func undone(in language: Language) -> Page {
        let hasRecovery = signups.flow.signIn.methods.contains(.password)
        return form(
            FormPage(
                title: .undoDoneTitle,
                text: [.undoDoneText],
                action: FlowPurpose.recovery.path,
                button: hasRecovery ? .recoverTitle : nil,
                links: hasRecovery ? [] : [(nil, .signIn, "/sign-in")]
            ),
            in: language
        )
    }
}
