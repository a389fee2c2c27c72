import Accounts
import Hummingbird

/// Finds the step that the path names.
struct StepLookup: RouterMiddleware {
    let steps: [Step]

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        guard let name = context.parameters.get("step").map({ StepName($0) }),
            let step = steps.first(where: { $0.name == name })
        else { throw Problem.unknownStep }
        var context = context
        context.step = step
        context.subject.set(step)
        return try await next(request, context)
    }
}

/// Sets the first step as the step of a request with which a page starts a draft, because the request may also have the
/// answers to that step.
struct FirstStepLookup: RouterMiddleware {
    /// Nil if the first page has no form of a step.
    let step: Step?

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        var context = context
        if context.representation == .page { context.step = step }
        return try await next(request, context)
    }
}
