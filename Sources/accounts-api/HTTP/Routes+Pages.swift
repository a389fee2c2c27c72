import Accounts
import Hummingbird
import Logging

/// Answers browsers with pages and redirects, for the routes of a flow. A problem that the person can solve is shown on
/// the page with the form; ``ProblemMiddleware`` answers every other error.
extension FlowSite {
    var handoff: HandoffRoutes {
        HandoffRoutes(
            signups: signups,
            representations: representations,
            cookie: cookie,
            pages: pages,
            signupRoutes: signupRoutes
        )
    }

    func page(
        _ act: Operation.Act,
        _ request: Request,
        _ context: RequestScope,
        _ handle: (Request, RequestScope) async throws -> Answer
    ) async throws -> Response {
        let language = context.language
        if act == .start { return try await startPage(request, context, handle) }
        do {
            if act == .resume, context.answers["confirmed"] == nil {
                let body = try ResumeRequest(context.answers, isPage: true, in: language)
                if try await handoff.wasResumedHere(body.link, context) { return Pages.seeOther(purpose.path) }
                var page = try await handoff.confirmation(of: body.link, context)
                if page.status == .gone { page.status = .unprocessableContent }
                return pages.response(page, in: language)
            }
            return try await pages.response(to: act, handle(request, context), in: language)
        } catch  where act == .resume || act == .redeem || act == .undoEmailChange {
            let problem = problem(for: error, language, context.logger)
            guard problem.slug == .validationFailed else { throw problem }
            context.subject.set(problem)
            var page =
                switch act {
                case .resume where !problem.refusalCodes.contains(Refusal.Code.codeExpired.rawValue):
                    pages.enterLinkCode(after: problem, in: language)
                case .resume: pages.resume(nil, of: nil, in: language)
                case .undoEmailChange: pages.undo(after: problem, in: language)
                default: pages.ticket(nil, for: nil, in: language)
                }
            page.status = problem.slug.status
            return pages.response(page, in: language)
        }
    }

    /// Answers a request about a draft. If a commit fails with a problem that the person can solve on the review, they
    /// see the review again.
    func page(
        _ act: Operation.Act,
        _ request: Request,
        _ context: DraftContext,
        _ handle: (Request, DraftContext) async throws -> Answer
    ) async throws -> Response {
        let (draft, language) = (context.draft, context.language)
        if act == .show, purpose != .emailChange, let url = pages.returnURL(in: request) {
            let isCommitted = draft.account != nil
            if isCommitted || draft.values.returnURL != url {
                // The last page of a committed draft leads to the destination of that draft, which may be another URL
                // than this one. The first page starts a new draft, whose last page leads to this URL.
                let page =
                    isCommitted
                    ? pages.first(request, notice: nil, in: language)
                    : pages.continuation(returningTo: url, in: language)
                return pages.response(page, in: language)
            }
        }
        // The commit deletes the text of new recovery codes, so the person must first confirm that they have saved it.
        if [.show, .review, .commit].contains(act), draft.account == nil,
            let step = signups.flow.steps.first(where: { !draft.unsavedRecoveryCodes(at: $0).isEmpty })
        {
            return Pages.seeOther(step.href)
        }
        do {
            var answer = try await handle(request, context)
            // If the browser has no session of the account, another person may use the browser by now. That person must
            // not see the account. If the flow starts a session at the commit, the browser has lost that session, for
            // example by a sign-out, so it gets the first page.
            if act == .show, let account = draft.account, await !isSignedIn(request, as: account) {
                if purpose == .signup, signups.flow.signIn.startsSessionAtCommit {
                    return pages.response(pages.first(request, notice: nil, in: language), in: language)
                }
                answer.remove("account")
            }
            return pages.response(to: act, answer, of: draft, in: language)
        } catch  where act == .commit {
            let problem = problem(for: error, language, context.logger)
            guard problem.isForTheSamePage else { throw problem }
            context.subject.set(problem)
            let review = representations.review(draft)
            return pages.response(pages.review(review, of: draft, after: problem, in: language), in: language)
        }
    }

    /// Whether the request has the cookie of a live session of the account. False also if the session cannot be read.
    private func isSignedIn(_ request: Request, as account: ID<Account>) async -> Bool {
        guard let sessions,
            let token = sessionCookies.session.values(in: request.headers).first.flatMap({ Token<AccountSession>($0) }),
            let session = try? await sessions.find(token)
        else { return false }
        return session.account.id == account
    }

    /// Answers a request about a step. If it fails with a problem that the person can solve at the step, they see the
    /// step again, with the answers that they typed, except passwords and codes. If a form with files was not read, for
    /// example because it is too large, they see the stored values instead.
    func page(
        _ act: Operation.Act,
        _ request: Request,
        _ context: StepContext,
        _ handle: (Request, StepContext) async throws -> Answer
    ) async throws -> Response {
        let (step, draft, language) = (context.step, context.draft, context.language)
        var typed = act == .submitForm && context.formWithFiles == nil ? context.answers : nil
        let page: Page
        do {
            let answer: Answer
            if let form = context.formWithFiles {
                answer = try await uploads.withAnswers(in: form, of: request, context) { context in
                    if act == .submitForm { typed = context.answers }
                    return try await handle(request, context)
                }
            } else {
                answer = try await handle(request, context)
            }
            switch act {
            case .showStep where !draft.unsavedRecoveryCodes(at: step).isEmpty:
                page = pages.unsavedCodes(of: draft, at: step, in: language)
            case .showStep:
                let news = Pages.notice(inQuery: request.uri.query)
                page = pages.step(answer.json ?? .null, step, of: draft, news: news, in: language)
            case .resend: return Pages.seeOther("\(step.href)?\(Pages.codeSent)")
            default: return pages.response(to: act, answer, of: draft, in: language)
            }
        } catch {
            let problem = problem(for: error, language, context.logger)
            guard problem.isForTheSamePage else { throw problem }
            context.subject.set(problem)
            let shown = try await signupRoutes.showStep(request, context).json ?? .null
            page = pages.step(shown, step, of: draft, after: problem, typed, in: language)
        }
        return pages.response(page, in: language)
    }

    func problem(for error: any Error, _ language: Language, _ logger: Logger) -> Problem {
        ProblemContext(language: language, logger: logger, representations: representations).problem(for: error)
    }
}
