import Accounts
import HTTPTypes
import Hummingbird

/// The handlers of the documents that do not change while the server runs: the flow, and the description of the API.
struct DocumentRoutes: Sendable {
    let representations: Representations
    /// The documents, made on first use.
    let documents: Documents
    /// Describes all operations of the server.
    let description: @Sendable () -> JSON

    @Sendable func schema(_ request: Request, _ context: RequestScope) async throws -> Response {
        let language = context.language
        let document = documents.document("schema \(language.tag)") { representations.schema(in: language) }
        var response = document.response(to: request)
        response.headers[.contentLanguage] = language.tag
        return response
    }

    @Sendable func openAPI(_ request: Request, _ context: RequestScope) async throws -> Response {
        documents.document("openapi", description).response(to: request)
    }
}

extension DocumentRoutes {
    var operations: [Operation] {
        [
            .init(
                .get,
                "signup/schema",
                .schema,
                responses: [.ok: .flow, .notModified: .nothing],
                .plain(schema)
            ),
            .init(
                .get,
                "openapi.json",
                .openAPI,
                responses: [.ok: .anything, .notModified: .nothing],
                .plain(openAPI)
            ),
        ]
    }
}

extension Operation.Act {
    static let schema = Self(
        "schema",
        "Returns the steps and fields of the flow, in the language of Accept-Language"
    )

    static let openAPI = Self(
        "openAPI",
        "Returns this description"
    )
}
