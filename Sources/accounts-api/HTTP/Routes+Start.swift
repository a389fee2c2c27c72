import Accounts
import HTTPTypes
import Hummingbird

/// The body of the form on the first page. The form starts a draft, and has the fields of the first step.
struct FirstFormBody {
    /// The name of the hidden control that marks such a form. No field can have this name, because it has a dot.
    static let formName: FieldName = "start.form"
    /// The names of the members for ``start``. All other members of the form, except ``formName``, are answers.
    static let startNames: Set<FieldName> = ["locale", "request", FieldName(ReturnTarget.name)]

    let form: FirstForm
    let start: StartRequest
    /// The answers to the first step.
    let answers: Answers

    /// Returns nil if the body has no text in ``formName``. Throws if ``StartRequest`` refuses a member.
    init?(_ body: Answers, in language: Language, of languages: [Language]) throws {
        guard let text = body[Self.formName]?.json?.string else { return nil }
        form = FirstForm(text) ?? FirstForm()
        start = try StartRequest(
            Answers(body.members.filter { Self.startNames.contains($0.name) }),
            in: language,
            of: languages
        )
        answers = Answers(body.members.filter { $0.name != Self.formName && !Self.startNames.contains($0.name) })
    }
}

extension FlowSite {
    /// Starts a draft, or continues the open draft of the request's token. If the request also has the answers to the
    /// first step, submits them to the draft. The draft is started first, so that these answers pass the same limits
    /// and validation as those to any step.
    func startPage(
        _ request: Request,
        _ context: RequestScope,
        _ start: (Request, RequestScope) async throws -> Answer
    ) async throws -> Response {
        guard let step = context.step else {
            return try await pages.response(to: .start, start(request, context), in: context.language)
        }
        let languages = signups.flow.languages
        guard let files = context.formWithFiles else {
            guard let body = try FirstFormBody(context.answers, in: context.language, of: languages) else {
                return try await pages.response(to: .start, start(request, context), in: context.language)
            }
            return try await begin(body, at: step, request, context)
        }
        do {
            return try await uploads.withAnswers(in: files, of: request, to: step, context) { answers in
                let body =
                    try FirstFormBody(answers, in: context.language, of: languages)
                    ?? FirstFormBody(
                        Answers([.init(FirstFormBody.formName, .json(.string("")))] + answers.members),
                        in: context.language,
                        of: languages
                    )!
                return try await begin(body, at: step, request, context)
            }
        } catch {
            return try refused(error, nil, request, context)
        }
    }

    private func begin(
        _ body: FirstFormBody,
        at step: Step,
        _ request: Request,
        _ context: RequestScope
    ) async throws -> Response {
        var context = context
        context.language = body.start.language
        let (draft, token): (Draft, Token<Draft>?)
        do {
            (draft, token) = try await signupRoutes.begin(body.start, context) { signups, destination in
                try await signups.start(by: body.form, in: body.start.language, for: destination)
            }
        } catch {
            return try refused(error, body, request, context)
        }
        var response = await submit(body.answers, to: step, of: draft, request, context)
        if let token {
            response.headers.append(cookie.set(token.text, for: signups.remainingLife(of: draft)))
        }
        return response
    }

    /// The response to the answers to the first step. Returns a problem page instead of throwing, because the response
    /// must carry the cookie of a draft that has just been started.
    func submit(
        _ answers: Answers,
        to step: Step,
        of draft: Draft,
        _ request: Request,
        _ context: RequestScope
    ) async -> Response {
        var context = context
        (context.draft, context.step, context.answers, context.formWithFiles) = (draft, step, answers, nil)
        context.subject.set(draft)
        context.subject.set(step)
        do {
            return try await page(.submitForm, request, StepContext(context: context), signupRoutes.submit)
        } catch {
            let problem = problem(for: error, draft.language, context.logger)
            context.subject.set(problem)
            return pages.response(to: problem, request, in: draft.language)
        }
    }

    /// Returns the first page again if the person can solve the problem there. Otherwise throws the problem.
    ///
    /// - Parameter body: nil if the body could not be read or is invalid. The page then takes the destination from the
    ///   query of the request.
    private func refused(
        _ error: any Error,
        _ body: FirstFormBody?,
        _ request: Request,
        _ context: RequestScope
    ) throws -> Response {
        let problem = problem(for: error, context.language, context.logger)
        guard problem.isForTheSamePage else { throw problem }
        context.subject.set(problem)
        guard let body else {
            let page = pages.first(request, notice: nil, after: problem, in: context.language)
            return pages.response(page, in: context.language)
        }
        let page = pages.start(
            after: problem,
            body.answers,
            for: body.start.request,
            returningTo: body.start.returnURL.flatMap { hosts?.allowed($0) },
            in: context.language
        )
        return pages.response(page, in: context.language)
    }
}
