import Accounts
import Hummingbird

/// Finds the step in the path.
struct StepLookup: RouterMiddleware {
    let flow: Flow

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        guard let name = context.parameters.get("step"), let step = flow.step(named: StepName(name)) else {
            throw Problem.unknownStep
        }
        var context = context
        context.step = step
        context.subject.set(step)
        return try await next(request, context)
    }
}
