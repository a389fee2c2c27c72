import Accounts
import Hummingbird

/// The same answers as pages.
extension Routes {
    /// The answer as the client wants it. Where a commit is refused, the person is still at the review.
    func show(
        _ act: Operation.Act,
        to context: DraftContext,
        _ handle: () async throws -> Answer
    ) async throws -> Response {
        guard context.representation == .page else { return try await handle().response }
        let (draft, language) = (context.draft, context.language)
        do {
            return try await pages.response(to: act, handle(), of: draft, in: language)
        } catch let problem as Problem where act == .commit && problem.isForTheSamePage {
            return pages.response(
                pages.review(bodies.review(draft), of: draft, after: problem, in: language),
                in: language
            )
        }
    }

    /// The same of a step. What a person can mend comes back on the page that they sent.
    func show(
        _ act: Operation.Act,
        of request: Request,
        to context: StepContext,
        _ handle: (StepContext) async throws -> Answer
    ) async throws -> Response {
        guard context.representation == .page else { return try await reading(request, context, handle).response }
        let (step, draft, language) = (context.step, context.draft, context.language)
        var typed: JSON?
        let page: Page
        do {
            let answer = try await reading(request, context) { context in
                if act == .submitForm { typed = context.answers }
                return try await handle(context)
            }
            switch act {
            case .showStep: page = pages.step(answer.json ?? .null, step, of: draft, in: language)
            case .resend: return Pages.seeOther(step.href)
            default: return pages.response(to: act, answer, of: draft, in: language)
            }
        } catch let problem as Problem where problem.isForTheSamePage {
            let shown = try await showStep(request, context).json ?? .null
            page = pages.step(shown, step, of: draft, after: problem, typed, in: language)
        }
        return pages.response(page, in: language)
    }
}
