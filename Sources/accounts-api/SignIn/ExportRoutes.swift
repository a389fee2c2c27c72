import Accounts
import HTTPTypes
import Hummingbird
import NIOCore

/// The handlers with which people download the data and the photos of their account.
struct ExportRoutes: Sendable {
    let sessions: Sessions

    @Sendable func export(_ request: Request, _ context: SessionContext) async throws -> Answer {
        let export = try await sessions.export(for: context.session)
        return Answer(
            json: export.json(current: context.session.id),
            headers: [.contentDisposition: "attachment; filename=\"account.json\""]
        )
    }

    @Sendable func photo(_ request: Request, _ context: SessionContext) async throws -> Answer {
        guard let field = context.parameters.get("photo"),
            let photo = try await sessions.photo(in: String(field), of: context.session)
        else { throw Problem(.notFound, "The account has no such photo.") }
        return Answer(image: photo.image, type: photo.type)
    }
}

extension ExportRoutes {
    var operations: [Operation] {
        [
            .init(.get, "account/export", .exportAccount, responses: [.ok: .export], .session(export)),
            .init(.get, "account/photos/:photo", .showAccountPhoto, responses: [.ok: .image], .session(photo)),
        ]
    }
}

extension Operation.Act {
    static let exportAccount = Self(
        "exportAccount",
        "Returns the data of the account without secrets, and links to its photos",
        problems: [.confirmationRequired]
    )

    static let showAccountPhoto = Self("showAccountPhoto", "Returns a photo of the account", problems: [.notFound])
}
