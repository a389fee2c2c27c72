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
        let (draft, token) = try await begin(request, context.session, from: context.network, in: body.language)
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

    /// Starts a change. Throws if the account has no address, because nobody could undo the change, or if the session
    /// was not confirmed recently. Also throws if the browser has a draft of an earlier change that this server cannot
    /// read or decrypt now: the new cookie would replace the cookie of that draft.
    func begin(
        _ request: Request,
        _ session: AccountSession,
        from network: Network,
        in language: Language,
        by form: FirstForm = FirstForm()
    ) async throws -> (draft: Draft, token: Token<Draft>) {
        guard session.account.email != nil else { throw Problem.noAddress }
        guard session.isConfirmed else { throw SignInError.confirmationRequired }
        _ = try await site.signupRoutes.openDraft(
            of: site.cookie.values(in: request.headers).first.flatMap { Token($0) }
        )
        return try await site.signups.from(network).startChange(by: session, in: language, by: form)
    }

    /// Shows the page to which the link in the mail to the old address leads. The token is in the fragment of the link,
    /// which browsers do not send: the script puts it into the form, and a person without script types it. Mail
    /// scanners open links and run the scripts of pages, so only the button sends the form.
    @Sendable func askToUndo(_ request: Request, _ context: RequestScope) async throws -> Response {
        site.pages.response(site.pages.undo(in: context.language), in: context.language)
    }

    @Sendable func undo(_ request: Request, _ context: RequestScope) async throws -> Answer {
        let answer = context.answers["token"]
        guard let token = answer?.json?.string.flatMap({ AddressToken($0) }), context.answers.members.count == 1 else {
            let isMissing = answer?.isBlank ?? true
            throw Problem.refused([Refusal("token", isMissing ? .required : .badFormat)], in: context.language)
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
                responses: [.ok: .page],
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

extension Problem {
    static let noAddress = Problem(.notFound, "The account has no address.")
}

extension Operation.Act {
    static let startEmailChange = Self(
        "start",
        "Starts a change of the address of the session's account",
        body: .members("Start", isRequired: false),
        problems: [.confirmationRequired, .notFound, .validationFailed, .rateLimited]
    )

    static let askToUndoEmailChange = Self(
        "askToUndo",
        "Shows a page that asks whether to bring the old address back; the link stays valid",
        problems: []
    )

    static let undoEmailChange = Self(
        "undo",
        "Brings the old address back, by the token in the mail to it; all sessions end, and the password and a recently"
            + " added authenticator app are removed",
        body: .members("UndoEmailChange"),
        problems: [.validationFailed],
        needsKeys: true
    )
}

extension Pages {
    /// Asks whether to bring the old address back.
    ///
    /// - Parameter problem: the reason why the sent form was refused; nil if the form was not sent yet. If the reason
    ///   is that the link does not work any more, the page says so and has no form.
    func undo(after problem: Problem? = nil, in language: Language) -> Page {
        let hasPassword = signups.flow.signIn.methods.contains(.password)
        if problem?.refusalCodes.contains(Refusal.Code.codeExpired.rawValue) == true {
            let text: Word = hasPassword ? .undoOver : .undoOverWithoutPassword
            var page = FormPage(title: .undoTitle, text: [text], action: "", next: (.signIn, "/sign-in"))
            if hasPassword {
                // If the link was used, the account has no password.
                page.next = (.recoverTitle, FlowPurpose.recovery.path)
                page.links = [(nil, .signIn, "/sign-in")]
            }
            if let url = assets.brand?.helpURL { page.links.append((nil, .helpLink, url)) }
            return form(page, in: language)
        }
        return form(
            FormPage(
                title: .undoTitle,
                text: [hasPassword ? .undoText : .undoTextWithoutPassword],
                action: "\(FlowPurpose.emailChange.path)/undo",
                fields: [.init(name: "token", label: .handOffCode, autocomplete: "off")],
                button: .undoTitle,
                takesFragment: true
            ),
            after: problem,
            in: language
        )
    }

    /// The page after the old address is restored. The account has no password then, so the page leads to a recovery,
    /// or to the sign-in if the flow does not let people sign in with passwords.
    func undone(in language: Language) -> Page {
        let hasPassword = signups.flow.signIn.methods.contains(.password)
        return form(
            FormPage(
                title: .undoDoneTitle,
                text: [hasPassword ? .undoDoneText : .undoDoneTextWithoutPassword],
                action: FlowPurpose.recovery.path,
                button: hasPassword ? .recoverTitle : nil,
                links: hasPassword ? [] : [(nil, .signIn, "/sign-in")]
            ),
            in: language
        )
    }
}
