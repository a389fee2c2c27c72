import Accounts
import HTTPTypes
import Hummingbird
import NIOCore

/// The handlers of image fields. Each image field has its own path.
struct PhotoRoutes: Sendable {
    let signups: Signups
    let uploads: Uploads

    /// Shows the photo of the draft.
    @Sendable func show(_ request: Request, _ context: FieldContext) async throws -> Response {
        if context.draft.account != nil { throw Problem.committed }
        guard let photo = try await signups.photo(in: context.field, of: context.draft) else {
            throw Problem(.notFound, "The field has no image.")
        }
        return Response(
            status: .ok,
            headers: [
                .contentType: Photo.type, .contentLength: "\(photo.jpeg.count)", .contentDisposition: "inline",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: photo.jpeg))
        )
    }

    @Sendable func put(_ request: Request, _ context: FieldContext) async throws -> Response {
        let revision = try request.expectedRevision(of: context.draft)
        return try await uploads.withImage(of: request, context) { image in
            let draft = try await signups.from(context.network).keep(
                image,
                in: context.field,
                at: context.step,
                of: context.draft,
                at: revision
            )
            return Answer(status: .noContent).tagged(draft).response
        }
    }

    @Sendable func remove(_ request: Request, _ context: FieldContext) async throws -> Response {
        let draft = try await signups.removePhoto(
            of: context.field,
            at: context.step,
            of: context.draft,
            at: request.expectedRevision(of: context.draft)
        )
        if context.representation == .page { return Pages.seeOther(context.step.href) }
        return Answer(status: .noContent).tagged(draft).response
    }
}
