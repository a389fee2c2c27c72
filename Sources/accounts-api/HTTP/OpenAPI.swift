import Accounts
import HTTPTypes

/// The description of the service in OpenAPI 3.1. It is generated from the flows and from the table of operations, from
/// which the router is made too.
struct OpenAPI {
    /// All flows; the first one is the sign-up.
    let sites: [FlowSite]
    let operations: [Operation]
    let publicURL: String
    let sessionCookie: TokenCookie

    private var signups: Signups { sites[0].signups }
    private var flow: Flow { signups.flow }

    private func site(of operation: Operation) -> FlowSite {
        sites.first { $0.purpose == operation.flow } ?? sites[0]
    }

    var document: JSON {
        [
            "openapi": "3.1.0",
            "info": [
                "title": .string("Accounts of \(signups.serviceName)"), "version": .string(flow.id),
                "description": """
                Sign-up, recovery, sign-in and accounts. Steps, fields and rules are those of the flow that this server \
                has loaded.
                """,
            ],
            "servers": [["url": .string(publicURL)]],
            "paths": .object(paths),
            "components": [
                "schemas": .object(
                    Schemas(flow: flow).all + sites.dropFirst().flatMap { Schemas(flow: $0.signups.flow).ofFlow }
                ),
                "securitySchemes": .object(securitySchemes),
            ],
        ]
    }

    private var securitySchemes: [JSON.Member] {
        var schemes = sites.map { JSON.Member($0.purpose.scheme, Self.scheme($0.cookie)) }
        schemes.append(.init("session", Self.scheme(sessionCookie)))
        schemes.append(.init("bearer", ["type": "http", "scheme": "bearer"]))
        guard sites[0].provider != nil else { return schemes }
        schemes.append(.init("accessToken", ["type": "http", "scheme": "bearer", "bearerFormat": "JWT"]))
        schemes.append(
            .init(
                "application",
                [
                    "type": "http", "scheme": "basic",
                    "description": """
                    The id and the secret of an application, each encoded as in a form. Operations that also work \
                    without this header take client_id and client_secret in the form; a public application has no \
                    secret.
                    """,
                ]
            )
        )
        return schemes
    }

    private static func scheme(_ cookie: TokenCookie) -> JSON {
        ["type": "apiKey", "in": "cookie", "name": .string(cookie.name)]
    }

    /// The alternative ways to authenticate; empty if the operation reads no credentials. An empty alternative means
    /// that the operation also answers requests without credentials.
    private static func security(of operation: Operation) -> [JSON] {
        let schemes: [String]
        let isRequired: Bool
        switch operation.credentials {
        case .nothing: return []
        case .token(let isTokenRequired):
            schemes = [operation.readsSession ? "session" : operation.flow.scheme, "bearer"]
            isRequired = isTokenRequired
        case .accessToken: (schemes, isRequired) = (["accessToken"], true)
        case .application(let isHeaderRequired): (schemes, isRequired) = (["application"], isHeaderRequired)
        }
        let requirements = schemes.map { JSON.object([.init($0, [])]) }
        return isRequired ? requirements : requirements + [JSON.object([])]
    }

    /// The paths with their operations. In the path of an operation on steps or image fields, the names of a step and a
    /// field replace the parameters, so there is one path for each of ``targets(of:)``. Other parameters stay, as
    /// `{name}`.
    private var paths: [JSON.Member] {
        var paths: [(path: String, operations: [JSON.Member])] = []
        for operation in operations {
            for (step, field) in targets(of: operation) {
                let path = Self.path(of: operation, step, field)
                let member = JSON.Member(
                    operation.method.rawValue.lowercased(),
                    description(of: operation, on: step, field)
                )
                if let index = paths.firstIndex(where: { $0.path == path }) {
                    paths[index].operations.append(member)
                } else {
                    paths.append((path, [member]))
                }
            }
        }
        return paths.map { .init($0.path, .object($0.operations)) }
    }

    /// The steps that support the act. If the act is about an image field, the image fields of these steps. If the act
    /// is about neither, one element without a step and a field.
    private func targets(of operation: Operation) -> [(Step?, Field?)] {
        guard operation.needsStep else { return [(nil, nil)] }
        let steps = operation.steps(of: site(of: operation).signups.flow).filter { $0.supports(operation.act) }
        guard operation.needsField else { return steps.map { ($0, nil) } }
        return steps.flatMap { step in step.images.map { (step, $0) } }
    }

    private static func path(of operation: Operation, _ step: Step?, _ field: Field?) -> String {
        let parts = operation.path.split(separator: "/").map { part -> String in
            switch part {
            case ":step": step?.name.rawValue ?? ""
            case ":field": field?.name.rawValue ?? ""
            default: part.hasPrefix(":") ? "{\(part.dropFirst())}" : String(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }

    private func description(of operation: Operation, on step: Step?, _ field: Field?) -> JSON {
        let flowSuffix = operation.flow == .signup ? "" : ".\(operation.flow.rawValue)"
        let operationID =
            operation.act.name + flowSuffix + (step.map { ".\($0.name)" } ?? "") + (field.map { ".\($0.name)" } ?? "")
        var members: [JSON.Member] = [
            .init("operationId", .string(operationID)), .init("summary", .string(operation.act.summary)),
        ]
        let security = Self.security(of: operation)
        if !security.isEmpty { members.append(.init("security", .array(security))) }
        let parameters = parameters(of: operation)
        if !parameters.isEmpty { members.append(.init("parameters", .array(parameters))) }
        if let body = body(of: operation, on: step) { members.append(.init("requestBody", body)) }
        return .object(members + [.init("responses", .object(responses(of: operation)))])
    }

    private func parameters(of operation: Operation) -> [JSON] {
        let text: JSON = ["type": "string"]
        let slugs = ProblemKind.allCases.map { JSON.string($0.rawValue) }
        let names = operation.path.split(separator: "/").filter { $0.hasPrefix(":") && $0 != ":step" && $0 != ":field" }
        var parameters = names.map { name -> JSON in
            let schema: JSON = name == ":slug" ? ["enum": .array(slugs)] : text
            return ["name": .string(String(name.dropFirst())), "in": "path", "required": true, "schema": schema]
        }
        parameters += operation.query.map { parameter -> JSON in
            [
                "name": .string(parameter.name), "in": "query", "required": .bool(parameter.isRequired),
                "schema": text,
            ]
        }
        func addHeader(_ name: String) {
            parameters.append(["name": .string(name), "in": "header", "schema": text])
        }
        if operation.act.problems.contains(.staleRevision) { addHeader("If-Match") }
        if operation.responses[.notModified] != nil { addHeader("If-None-Match") }
        return parameters
    }

    private func body(of operation: Operation, on step: Step?) -> JSON? {
        let body = operation.act.body
        let suffix = operation.flow.schemaPrefix + (step?.name.rawValue ?? "")
        let name: String
        switch body {
        case .none: return nil
        case .image:
            return [
                "required": true,
                "content": .object(ImageField.types.map { .init($0, ["schema": Self.bytes]) }),
            ]
        case .form:
            return [
                "required": false, "content": .object([.init(BodyType.form.rawValue, ["schema": ["type": "object"]])]),
            ]
        case .parameters(let parameters):
            let schema: JSON = [
                "type": "object",
                "properties": .object(parameters.map { .init($0.name, Schemas.string) }),
                "required": .array(parameters.filter(\.isRequired).map { .string($0.name) }),
            ]
            return ["required": true, "content": .object([.init(BodyType.form.rawValue, ["schema": schema])])]
        case .members(let schema, _, _): name = schema
        case .answers: name = "Answers.\(suffix)"
        case .edits: name = "Edits.\(step?.name.rawValue ?? "")"
        case .someAnswers: name = "Fields.\(suffix)"
        }
        let isRequired = if case .members(_, let isRequired, _) = body { isRequired } else { true }
        var content = BodyType.allCases.map { JSON.Member($0.rawValue, ["schema": Schemas.reference(name)]) }
        if body == .answers || body == .edits, let step, !step.images.isEmpty {
            let form = body == .edits ? "EditForm" : "Form"
            content.append(.init(FormWithFiles.type, ["schema": Schemas.reference("\(form).\(step.name)")]))
        }
        return ["required": .bool(isRequired), "content": .object(content)]
    }

    /// Binary content, which JSON Schema cannot describe further.
    private static let bytes: JSON = [:]
    private static let page = JSON.Member("text/html", ["schema": ["type": "string"]])

    private func content(of answer: Operation.Shape, in purpose: FlowPurpose) -> [JSON.Member] {
        switch answer {
        case .nothing: []
        case .page: [Self.page]
        case .image: [.init(Photo.type, ["schema": Self.bytes])]
        case .anything: [.init("application/json", ["schema": ["type": "object"]])]
        case .draft, .review:
            [.init("application/json", ["schema": Schemas.reference(purpose.schemaPrefix + answer.rawValue)])]
        default: [.init("application/json", ["schema": Schemas.reference(answer.rawValue)])]
        }
    }

    private func responses(of operation: Operation) -> [JSON.Member] {
        let pages = operation.hasPages ? [Self.page] : []
        let ownResponses = operation.responses.sorted { $0.key.code < $1.key.code }.map {
            status,
            answer -> JSON.Member in
            var response: [JSON.Member] = [.init("description", .string(status.reasonPhrase))]
            let content = content(of: answer, in: operation.flow)
            if !content.isEmpty { response.append(.init("content", .object(content + (answer == .page ? [] : pages)))) }
            return .init("\(status.code)", .object(response))
        }
        // OpenAPI has one response for each status; that of the operation itself takes precedence.
        let otherProblems = operation.problems.filter { operation.responses[$0.status] == nil }
        let problems = Dictionary(grouping: otherProblems, by: \.status.code).sorted { $0.key < $1.key }
            .map { code, slugs -> JSON.Member in
                let content = [
                    JSON.Member("application/problem+json", ["schema": Schemas.reference("Problem")]), Self.page,
                ]
                return .init(
                    "\(code)",
                    [
                        "description": .string(slugs.map(\.rawValue).joined(separator: ", ")),
                        "content": .object(content),
                    ]
                )
            }
        let redirect: [JSON.Member] =
            operation.redirects
            ? [.init("303", ["description": "See Other: redirects a browser to the next page"])] : []
        return ownResponses + redirect + problems
    }
}

extension Step {
    /// Whether the act can have an effect on the step. False for a resend on a step without a mailed code, and for the
    /// confirmation of saved recovery codes on a step without an authenticator app.
    fileprivate func supports(_ act: Operation.Act) -> Bool {
        switch act {
        case .resend: fields.contains { $0.kind.provedField != nil }
        case .forgetRecoveryCodes: hasRecoveryCodes
        default: true
        }
    }
}

extension FlowPurpose {
    /// The name of the security scheme with the cookie of the flow.
    fileprivate var scheme: String { self == .signup ? "cookie" : rawValue }
}
