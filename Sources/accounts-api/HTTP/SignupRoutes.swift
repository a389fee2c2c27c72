import Accounts
import HTTPTypes
import Hummingbird

/// The handlers of a flow and its steps, from the start to the commit.
struct SignupRoutes: Sendable {
    let site: FlowSite

    private var signups: Signups { site.signups }
    private var representations: Representations { site.representations }
    private var cookie: TokenCookie { site.cookie }

    /// Starts a draft, or returns the open draft of the request's token.
    @Sendable func start(_ request: Request, _ context: RequestScope) async throws -> Answer {
        let body = try StartRequest(context.answers, in: context.language, of: signups.flow.languages)
        let (draft, token) = try await begin(body, context) { signups, destination in
            try await signups.start(in: body.language, for: destination)
        }
        guard let token else { return representations.answer(draft) }
        var answer = representations.answer(
            draft,
            with: token,
            isBearer: body.isBearer,
            cookie: cookie,
            status: .created
        )
        answer.headers[.location] = site.purpose.path
        return answer
    }

    /// Returns the open draft of the request's token. If there is none, starts a draft, and returns it with its token.
    func begin(
        _ body: StartRequest,
        _ context: RequestScope,
        start: (Signups, DraftDestination?) async throws -> (draft: Draft, token: Token<Draft>)
    ) async throws -> (draft: Draft, token: Token<Draft>?) {
        let destination = destination(of: body)
        if let draft = try await openDraft(of: context.credentials.token(of: Draft.self)) {
            guard let destination else { return (draft, nil) }
            return (try await signups.remember(destination, in: draft), nil)
        }
        let (draft, token) = try await start(signups.from(context.network), destination)
        return (draft, token)
    }

    /// Where the person goes after the commit; nil if the client names no destination, or one that is not allowed.
    private func destination(of body: StartRequest) -> DraftDestination? {
        let authorization = body.request.flatMap { site.provider?.request(ticket: $0) }
        // If the application expects a certain account, a new account cannot answer its request.
        if let authorization, site.purpose != .signup || authorization.allowsSignUp {
            return .application(authorization)
        }
        return body.returnURL.flatMap { site.hosts?.allowed($0) }.map { .page($0) }
    }

    /// The draft of the token; nil if there is none, or if it has ended or is committed. Throws if the draft cannot be
    /// read or decrypted now, because the cookie of a new draft would replace the cookie of this one.
    func openDraft(of token: Token<Draft>?) async throws(FindError) -> Draft? {
        guard let token else { return nil }
        do throws(FindError) {
            let draft = try await signups.find(token)
            return draft.account == nil ? draft : nil
        } catch {
            switch error {
            case .unknown, .ended: return nil
            case .unreadable, .database: throw error
            }
        }
    }

    @Sendable func show(_ request: Request, _ context: DraftContext) async throws -> Answer {
        // A recovery or a change of the address does not show its account here: the account is older than the draft, so
        // reading it needs the token of a session.
        guard let id = context.draft.account, site.purpose == .signup else {
            return representations.answer(context.draft)
        }
        let account = try await signups.account(id)
        var answer = representations.answer(context.draft, account: account)
        answer.addContinuation(of: context.draft, committedAs: account, at: site)
        return answer
    }

    @Sendable func cancel(_ request: Request, _ context: DraftContext) async throws -> Answer {
        try await signups.cancel(context.draft, at: request.expectedRevision(of: context.draft))
        // Clears the cache, because browsers keep some pages in memory for the back button in spite of `no-store`, and
        // the storage, because it may contain typed answers. Does not clear `"cookies"`, because one of them may belong
        // to a session.
        return Answer(
            status: .noContent,
            headers: [.setCookie: cookie.clear.value, .clearSiteData: "\"cache\", \"storage\""]
        )
    }

    /// Shows a page that asks whether to cancel, for browsers without script.
    @Sendable func askToCancel(_ request: Request, _ context: DraftContext) async throws -> Answer {
        if context.draft.account != nil { throw Problem.committed(in: site.purpose) }
        return representations.answer(context.draft)
    }

    @Sendable func showStep(_ request: Request, _ context: StepContext) async throws -> Answer {
        let (step, draft) = (context.step, context.draft)
        if draft.account != nil { throw Problem.committed(in: site.purpose) }
        let progress = signups.progress(of: draft)
        if progress.states[step.name] == .locked { throw Problem.locked(progress.next, of: signups.flow) }
        let enrolment = try await signups.enrolment(at: step, of: draft)
        return Answer(json: representations.step(step, of: draft, enrolment)).tagged(draft)
    }

    @Sendable func submit(_ request: Request, _ context: StepContext) async throws -> Answer {
        var answers = context.answers
        // The form may ask for a code that was mailed to an earlier address of the draft. That code must not count as a
        // guess of the code for the current address. If the address changes after this check, the guess does not count
        // either: a guess counts only if the draft still has the code that it has in `context`.
        if let mark = answers[Self.addressMark]?.json?.string {
            guard signups.isCurrent(addressMark: mark, at: context.step, of: context.draft) else {
                if context.representation == .json {
                    throw Problem.addressIsOther(context.draft, shownAs: representations.draft(context.draft))
                }
                return Answer(json: ["next": ["href": .string("\(context.step.href)?\(Pages.addressIsOther)")]])
            }
            answers = answers.without(Self.addressMark)
        }
        let outcome = try await signups.from(context.network).submit(
            answers,
            to: context.step,
            of: context.draft,
            at: request.expectedRevision(of: context.draft),
            keepingRecoveryCodes: context.representation == .page
        )
        if context.representation == .page, !outcome.draft.unsavedRecoveryCodes(at: context.step).isEmpty {
            // The page of the step shows the recovery codes, even if the browser loads it again.
            return Answer(json: ["next": ["href": .string(context.step.href)]])
        }
        return representations.answer(
            outcome.draft,
            cleared: outcome.cleared,
            recoveryCodes: outcome.recoveryCodes
        )
    }

    /// The name of a hidden control in a form that asks for a mailed code. The control contains a text that stands for
    /// the address to which the code was mailed (``Signups/addressMark(at:of:)``). No field can have this name, because
    /// it has a dot.
    static let addressMark: FieldName = "address.mark"

    @Sendable func check(_ request: Request, _ context: StepContext) async throws -> Answer {
        let verdict = try await signups.from(context.network).check(
            context.answers,
            on: context.step,
            of: context.draft
        )
        return Answer(json: [
            "valid": .bool(verdict.refusals.isEmpty),
            "errors": .array(verdict.refusals.map { $0.json(in: context.language, of: signups.flow) }),
            "written": .object(verdict.written.map { .init($0.field.rawValue, .string($0.text)) }),
        ])
    }

    @Sendable func clear(_ request: Request, _ context: StepContext) async throws -> Answer {
        let outcome = try await signups.clear(
            context.step,
            of: context.draft,
            at: request.expectedRevision(of: context.draft)
        )
        return representations.answer(outcome.draft, cleared: outcome.cleared)
    }

    @Sendable func resend(_ request: Request, _ context: StepContext) async throws -> Answer {
        let wait = try await signups.from(context.network).resend(
            context.step,
            of: context.draft,
            at: request.expectedRevision(of: context.draft)
        )
        return Answer(json: ["resend_after": .integer(wait.seconds)], status: .accepted)
    }

    @Sendable func review(_ request: Request, _ context: DraftContext) async throws -> Answer {
        if context.draft.account != nil { throw Problem.committed(in: site.purpose) }
        return Answer(json: representations.review(context.draft)).tagged(context.draft)
    }

    @Sendable func commit(_ request: Request, _ context: DraftContext) async throws -> Answer {
        let commit = try await signups.from(context.network).commit(
            context.draft,
            at: request.expectedRevision(of: context.draft),
            signingIn: CommittingClient(
                token: context.token,
                client: site.sessionCookies.client(of: request),
                replacing: site.sessionCookies.session.values(in: request.headers).first.flatMap { Token($0) }
            )
        )
        var answer = Answer(
            json: ["account": Representations.account(commit.account)],
            status: commit.isNew && site.purpose == .signup ? .created : .ok
        )
        answer.addContinuation(of: context.draft, committedAs: commit.account, commit.session?.session, at: site)
        if let session = commit.session { answer.add(session, isBearer: !context.hasCookie, site.sessionCookies) }
        if context.hasCookie {
            answer.headers.append(cookie.set(context.token.text, for: TokenCookie.lifetimeAfterCommit))
        }
        return answer
    }
}

extension SignupRoutes {
    var operations: [Operation] {
        let start = operation(.post, "", .start, responses: [.created: .draft, .ok: .draft], .open(start))
        // A change of the address needs a session, so ``EmailChangeRoutes`` starts it. The other parameters of the
        // query are for a first page, which this flow does not have.
        let isEmailChange = site.purpose == .emailChange
        return (isEmailChange ? [] : [start]) + [
            operation(
                .get,
                "",
                .show,
                query: isEmailChange ? ["locale", "ui_locales"] : nil,
                responses: [.ok: .draft],
                .draft(show)
            ),
            operation(.delete, "", .cancel, responses: [.noContent: .nothing], .draft(cancel)),
            operation(.get, "/cancel", .askToCancel, responses: [.ok: .draft], .draft(askToCancel)),
            operation(.post, "/cancel", .cancelForm, responses: [.noContent: .nothing], .draft(cancel)),
            operation(.get, "/review", .review, responses: [.ok: .review], .draft(review)),
            operation(
                .post,
                "/commit",
                .commit,
                responses: site.purpose == .signup ? [.created: .account, .ok: .account] : [.ok: .account],
                .draft(commit)
            ),
        ]
    }

    var stepOperations: [Operation] {
        [
            operation(.get, "/:step", .showStep, responses: [.ok: .step], .step(showStep)),
            operation(.put, "/:step", .submit, responses: [.ok: .draft], .step(submit)),
            operation(.post, "/:step", .submitForm, responses: [.ok: .draft], .step(submit)),
            operation(.delete, "/:step", .clear, responses: [.ok: .draft], .step(clear)),
            operation(.post, "/:step/check", .check, responses: [.ok: .check], .step(check)),
            operation(.post, "/:step/resend", .resend, responses: [.accepted: .resend], .step(resend)),
        ]
    }

    /// - Parameters:
    ///   - path: the part of the path after the path of the flow.
    ///   - query: the parameters in the query; nil for those of the act.
    private func operation(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ act: Operation.Act,
        query: [Operation.Parameter]? = nil,
        responses: [HTTPResponse.Status: Operation.Shape],
        _ handler: Operation.Handler
    ) -> Operation {
        .init(method, site.purpose.rawValue + path, act, query: query, responses: responses, of: site.purpose, handler)
    }
}

extension Operation.Act {
    static let start = Self(
        "start",
        "Starts a draft, or continues the open draft of the token",
        query: ["request", "return_to"],
        body: .members("Start", isRequired: false),
        problems: [.validationFailed, .rateLimited],
        needsKeys: true,
        credentials: .token(isRequired: false)
    )

    static let show = Self(
        "show",
        "Returns the draft; after the commit of a sign-up, with the account",
        query: ["request", "return_to", "login_hint", "email", "locale", "ui_locales"]
    )

    static let cancel = Self(
        "cancel",
        "Cancels the draft and deletes its values immediately",
        problems: [.alreadyCommitted, .staleRevision]
    )

    static let askToCancel = Self(
        "askToCancel",
        "Returns the draft; browsers get a page that asks whether to cancel it; changes nothing",
        problems: [.alreadyCommitted]
    )

    static let cancelForm = Self(
        "cancelForm",
        "Cancels the draft, for HTML forms",
        problems: [.alreadyCommitted, .staleRevision]
    )

    static let review = Self(
        "review",
        "Returns all values, and the names of the missing fields",
        problems: [.alreadyCommitted]
    )

    static let commit = Self(
        "commit",
        "Creates the account, or changes it in a flow other than the sign-up; a repeated request changes nothing",
        problems: [.incomplete, .identifierTaken, .alreadyCommitted, .staleRevision, .rateLimited]
    )

    static let showStep = Self(
        "showStep",
        "Returns the fields of a step, with their rules and values",
        problems: [.stepLocked, .alreadyCommitted]
    )

    static let submit = Self(
        "submit",
        "Replaces the answers of a step",
        body: .answers,
        problems: [.stepLocked, .alreadyCommitted, .staleRevision, .validationFailed, .rateLimited, .busy]
    )

    static let submitForm = Self(
        "submitForm",
        "The same as PUT, for HTML forms",
        body: .answers,
        problems: [.stepLocked, .alreadyCommitted, .staleRevision, .validationFailed, .rateLimited, .busy]
    )

    static let clear = Self(
        "clear",
        "Deletes the answers of a step",
        problems: [.stepLocked, .alreadyCommitted, .staleRevision, .validationFailed, .rateLimited, .busy]
    )

    static let check = Self(
        "check",
        "Validates the fields in the body without storing them",
        body: .someAnswers,
        problems: [.stepLocked, .alreadyCommitted, .rateLimited, .busy]
    )

    static let resend = Self(
        "resend",
        "Mails a new code, and invalidates the previous one",
        problems: [.stepLocked, .alreadyCommitted, .staleRevision, .validationFailed, .rateLimited, .notFound]
    )
}
