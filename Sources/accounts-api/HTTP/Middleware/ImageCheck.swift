import Accounts
import HTTPTypes
import Hummingbird

/// Refuses a body that cannot be an image, by the headers of the request alone. ``Uploads`` reads the image later, when
/// the draft is found and the step is known to be writable.
struct ImageCheck: RouterMiddleware {
    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        let types = ImageField.types.joined(separator: ", ")
        try BodyReader.refuseContentCoding(in: request.headers, accept: types)
        // Only the bytes of the body show which type of image it is.
        guard let type = request.headers[.contentType], type.lowercased().hasPrefix("image/") else {
            throw Problem(
                .unsupportedMediaType,
                "The Content-Type is not that of an image. Send an image, with a type such as image/jpeg.",
                headers: [.accept: types]
            )
        }
        let maximum = ImageField.maximumBytes
        if let length = request.bodyLength, length > maximum, context.representation == .json {
            throw BodyReader.tooLarge(maximum)
        }
        return try await next(request, context)
    }
}
