import Accounts
import HTTPTypes
import Hummingbird
import NIOCore

/// The handlers of the image fields of a draft. Each image field has its own path.
struct PhotoRoutes: Sendable {
    let signups: Signups
    let uploads: Uploads

    /// Shows the photo in the image field of the draft.
    @Sendable func show(_ request: Request, _ context: FieldContext) async throws -> Response {
        if context.draft.account != nil { throw Problem.committed(in: .signup) }
        guard let photo = try await signups.photo(in: context.field, of: context.draft) else {
            throw Problem(.notFound, "There is no image to show in this field.")
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

extension PhotoRoutes {
    var operations: [Operation] {
        [
            .init(.get, "signup/:step/:field", .showPhoto, responses: [.ok: .image], .field(show)),
            .init(.put, "signup/:step/:field", .putPhoto, responses: [.noContent: .nothing], .field(put)),
            .init(
                .delete,
                "signup/:step/:field",
                .removePhoto,
                responses: [.noContent: .nothing],
                .field(remove)
            ),
            .init(
                .post,
                "signup/:step/:field/remove",
                .removePhotoForm,
                responses: [.noContent: .nothing],
                .field(remove)
            ),
        ]
    }
}

extension Operation.Act {
    static let showPhoto = Self(
        "showPhoto",
        "Returns the photo in an image field",
        problems: [.alreadyCommitted, .notFound]
    )

    static let putPhoto = Self(
        "putPhoto",
        "Stores a photo made from an image; the other fields of the step do not change",
        body: .image,
        problems: [.stepLocked, .alreadyCommitted, .staleRevision, .validationFailed, .rateLimited, .busy, .notFound]
    )

    static let removePhoto = Self(
        "removePhoto",
        "Deletes the photo",
        problems: [.stepLocked, .alreadyCommitted, .staleRevision, .rateLimited, .notFound]
    )

    static let removePhotoForm = Self(
        "removePhotoForm",
        "The same as DELETE, for HTML forms",
        problems: [.stepLocked, .alreadyCommitted, .staleRevision, .rateLimited, .notFound]
    )
}
