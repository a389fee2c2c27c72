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
        try refuse(context.step, context.draft, in: context.language)
        return try await uploads.withSlot(for: request, from: context.network) {
            let image = try await uploads.image(in: request)
            let draft = try await acting { () throws(SubmitError) in
                try await signups.keep(image, in: context.field, at: context.step, of: context.draft, at: revision)
            } problem: {
                try Problem($0, in: context.language, current)
            }
            return tagged(Answer(status: .noContent), draft).response
        }
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

/// Forms with files.
extension Routes {
    /// Reads the answers to a step, where they are still to be read, and hands them on.
    func reading<Value>(
        _ request: Request,
        _ context: StepContext,
        _ body: (StepContext) async throws -> Value
    ) async throws -> Value {
        guard case .form(let boundary)? = context.upload else { return try await body(context) }
        try refuse(context.step, context.draft, in: context.language)
        return try await uploads.withSlot(for: request, from: context.network) {
            var context = context
            do {
                context.answers = try await uploads.answers(in: request, boundary: boundary, to: context.step)
            } catch let problem as Problem where problem.slug == .tooLarge && context.representation == .page {
                throw Problem.refused(context.step.images.map { .tooLarge($0.name) }, in: context.language)
            }
            return try await body(context)
        }
    }

    /// Before anything large is read: where the step cannot be written to, nothing will come of it.
    private func refuse(_ step: Step, _ draft: Draft, in language: Language) throws {
        guard let obstacle = signups.obstacle(to: step, of: draft) else { return }
        throw try Problem(obstacle, in: language, current)
    }
}
