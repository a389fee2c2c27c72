import Accounts
import Hummingbird

/// Finds the image field in the path.
struct FieldLookup: RouterMiddleware {
    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        guard let name = context.parameters.get("field"), let field = context.step?.field(named: FieldName(name)),
            field.kind.takesFile
        else { throw Problem.noImageField }
        var context = context
        context.field = field
        return try await next(request, context)
    }
}
