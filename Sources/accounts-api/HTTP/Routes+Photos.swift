import Accounts
import HTTPTypes
import Hummingbird
import NIOCore

/// The image fields of a step, each with a path of its own.
extension Routes {
    /// The draft's own photo, of which a browser believes no other type.
    @Sendable func showPhoto(_ request: Request, _ context: FieldContext) async throws -> Response {
        if context.draft.account != nil { throw Problem.committed }
        let photo = try await acting { () throws(DatabaseError) in
            try await signups.photo(in: context.field, of: context.draft)
        } problem: {
            try Problem($0)
        }
        guard let photo else { throw Problem(.notFound, "There is no image in this field.") }
        return Response(
            status: .ok,
            headers: [
                .contentType: Photo.type, .contentLength: "\(photo.jpeg.count)", .contentDisposition: "inline",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: photo.jpeg))
        )
    }

    @Sendable func putPhoto(_ request: Request, _ context: FieldContext) async throws -> Response {
        let revision = try expectedRevision(of: request, context.draft)
        guard let image = context.image else { preconditionFailure("an upload was read before") }
        let draft = try await acting { () throws(SubmitError) in
            try await signups.keep(image, in: context.field, at: context.step, of: context.draft, at: revision)
        } problem: {
            try Problem($0, in: context.language, current)
        }
        return tagged(Answer(status: .noContent), draft).response
    }

    @Sendable func removePhoto(_ request: Request, _ context: FieldContext) async throws -> Response {
        let revision = try expectedRevision(of: request, context.draft)
        let draft = try await acting { () throws(SubmitError) in
            try await signups.removePhoto(of: context.field, at: context.step, of: context.draft, at: revision)
        } problem: {
            try Problem($0, in: context.language, current)
        }
        if context.representation == .page { return Pages.seeOther(context.step.href) }
        return tagged(Answer(status: .noContent), draft).response
    }
}
