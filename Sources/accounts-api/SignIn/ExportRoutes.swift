import Accounts
import HTTPTypes
import Hummingbird
import NIOCore

/// The handlers with which people take along what the service holds about them.
struct ExportRoutes: Sendable {
    let account: AccountRoutes
    let session: SessionRoutes

    private var sessions: Sessions { account.sessions }

    @Sendable func export(_ request: Request, _ context: SessionContext) async throws -> Answer {
        let current = context.session
        let all = try await sessions.export(for: current)
        let json: JSON = [
            "exported_at": .string(all.now.timestamp),
            "account": account.representations.account(current.account),
            "flow": .string(all.flow), "language": .string(all.language),
            "email_proved_at": all.emailProvedAt.map { .string($0.timestamp) } ?? .null,
            "factors": all.overview.factors, "consents": all.overview.consentList,
            "sessions": session.list(all.sessions, current: current.id),
            "devices": .array(all.devices.map { ["last_used_at": .string($0.timestamp)] }),
            "left_addresses": .array(
                all.leftAddresses.map { left in
                    [
                        "address": left.address.map(JSON.string) ?? .null, "left_at": .string(left.leftAt.timestamp),
                        "restorable_until": .string(left.restorableUntil.timestamp),
                    ]
                }
            ),
            "photos": .array(
                all.photos.map { photo in
                    [
                        "field": .string(photo.field), "type": .string(photo.type), "bytes": .integer(photo.bytes),
                        "href": .string("/account/photos/\(photo.field)"),
                    ]
                }
            ),
        ]
        return Answer(json: json, headers: [.contentDisposition: "attachment; filename=\"account.json\""])
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
        "Returns everything that the service holds about the account, except secrets",
        problems: [.confirmationRequired]
    )

    static let showAccountPhoto = Self("showAccountPhoto", "Returns a photo of the account", problems: [.notFound])
}
