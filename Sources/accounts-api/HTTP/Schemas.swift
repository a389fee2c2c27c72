import Accounts

/// The schemas of the bodies of requests and responses, in JSON Schema 2020-12, which OpenAPI 3.1 extends. Those of
/// drafts, steps, accounts and the flow describe what ``Representations`` makes.
struct Schemas {
    let flow: Flow

    static func reference(_ name: String) -> JSON { ["$ref": .string("#/components/schemas/\(name)")] }

    var all: [JSON.Member] {
        [
            .init("Start", Self.start), .init("Draft", draft), .init("Step", step), .init("Review", review),
            .init("Account", account),
            .init(
                "Commit",
                Self.object(
                    ["account": Self.reference("Account")],
                    optional: [
                        "session": Self.reference("Session"), "token": Self.string, "device": Self.string,
                        "continue": Self.continuation,
                    ]
                )
            ),
            .init(
                "Check",
                Self.object([
                    "valid": Self.bool, "errors": Self.errors,
                    "written": ["type": "object", "additionalProperties": Self.string],
                ])
            ),
            .init("Resend", Self.object(["resend_after": Self.count])),
            .init("Handoff", Self.object(["resend_after": Self.count, "expires_in": Self.count])),
            .init("Resume", Self.resume), .init("Redeem", Self.redeem), .init("Flow", flowSchema),
            .init("Field", Self.field), .init("Health", Self.object(["status": Self.string])),
            .init("Next", Self.object(["step": Self.string, "href": Self.string])),
            .init("StepSummary", Self.object(Self.summary)), .init("Problem", Self.problem),
            .init("Error", Self.error), .init("ProblemType", Self.problemType), .init("FieldCode", Self.fieldCode),
            .init(
                "Problems",
                Self.object([
                    "problems": Self.list(of: Self.reference("ProblemType")),
                    "codes": Self.list(of: Self.reference("FieldCode")),
                ])
            ),
        ] + Self.sessions + [.init("NewPassword", newPassword)] + ofSteps
            + flow.editableSteps.flatMap {
                [.init("Edits.\($0.name)", fields(of: $0))] + form(of: $0, named: "EditForm")
            } + [
                .init("AccountStep", accountStep),
                .init("EditedAccount", Self.object(["account": Self.reference("Account")])),
            ]
    }

    private var accountStep: JSON {
        var field = Self.fieldMembers
        field.append(.init("value", true))
        return Self.object(.object(Self.stepMembers + [.init("fields", Self.list(of: Self.object(.object(field))))]))
    }

    /// The schemas of a flow that is not the sign-up, in addition to those of the sign-up.
    var ofFlow: [JSON.Member] { [.init("\(prefix)Draft", draft), .init("\(prefix)Review", review)] + ofSteps }

    private var prefix: String { flow.purpose.schemaPrefix }

    private var ofSteps: [JSON.Member] {
        flow.steps.flatMap {
            [
                .init("Fields.\(prefix)\($0.name)", fields(of: $0)),
                .init("Answers.\(prefix)\($0.name)", answers(to: $0)),
            ] + form(of: $0)
        }
    }

    // MARK: Request bodies

    private static let start: JSON = [
        "type": "object", "additionalProperties": false,
        "properties": [
            "transport": ["enum": ["cookie", "bearer"]], "locale": ["type": ["string", "null"]],
            "request": ["type": ["string", "null"]], "return_to": ["type": ["string", "null"]],
        ],
    ]

    private static let resume: JSON = [
        "type": "object", "additionalProperties": false, "required": ["code"],
        "properties": [
            "code": string, "attempt": ["type": ["string", "null"], "pattern": "^[A-Za-z0-9_-]{22,64}$"],
            "transport": ["enum": ["cookie", "bearer"]],
        ],
    ]

    private static let redeem: JSON = [
        "type": "object", "additionalProperties": false, "required": ["ticket"],
        "properties": [
            "ticket": string, "transport": ["enum": ["cookie", "bearer"]], "locale": ["type": ["string", "null"]],
        ],
    ]

    private func fields(of step: Step) -> JSON {
        let properties = step.fields.map { field -> JSON.Member in
            let schema = field.kind.answerSchema
            return .init(
                field.name.rawValue,
                field.isRequired ? schema : ["anyOf": [schema, ["enum": [nil, "", []]]]]
            )
        }
        return ["type": "object", "additionalProperties": false, "properties": .object(properties)]
    }

    /// The form with files, as `multipart/form-data`; empty for a step without image fields.
    private func form(of step: Step, named name: String = "Form") -> [JSON.Member] {
        guard !step.images.isEmpty else { return [] }
        let properties = step.fields.map { field -> JSON.Member in
            let text = step.repeatableNames.contains(field.name.rawValue) ? Self.strings : Self.string
            return .init(field.name.rawValue, field.kind.takesFile ? [:] : text)
        }
        return [
            .init(
                "\(name).\(step.name)",
                ["type": "object", "additionalProperties": false, "properties": .object(properties)]
            )
        ]
    }

    /// The body that submits a step. An optional step requires no member, because an empty object skips it. An image is
    /// never required, because JSON cannot carry it.
    private func answers(to step: Step) -> JSON {
        let requiredFields = step.isOptional ? [] : step.fields.filter { $0.isRequired && !$0.kind.takesFile }
        let required = requiredFields.map { JSON.string($0.name.rawValue) }
        return ["allOf": [Self.reference("Fields.\(prefix)\(step.name)")], "required": .array(required)]
    }

    // MARK: Response bodies

    private var draft: JSON {
        Self.object(
            [
                "id": Self.string, "flow": Self.string, "revision": Self.count,
                "state": ["enum": ["open", "ready", "committed"]],
            ],
            optional: [
                "next": Self.reference("Next"), "progress": Self.object(["done": Self.count, "total": Self.count]),
                "missing": Self.strings, "steps": Self.list(of: Self.reference("StepSummary")),
                "values": values(at: .draft), "cleared": Self.strings, "recovery_codes": Self.strings,
                "account": Self.reference("Account"),
                "continue": Self.continuation,
                "token": Self.string,
            ],
            then: ["expires_at": Self.instant, "expires_in": Self.count]
        )
    }

    private var step: JSON {
        var field = Self.fieldMembers
        field.append(.init("value", true))
        return Self.object(
            .object(Self.stepMembers + [.init("state", Self.state)]),
            optional: [
                "resend_after": Self.count, "code_expires_at": Self.instant, "secret": Self.string,
                "otpauth_uri": Self.string, "seconds_remaining": Self.count, "qr_svg": Self.string,
            ],
            then: ["fields": Self.list(of: Self.object(.object(field))), "server_time": Self.instant]
        )
    }

    private var review: JSON {
        Self.object([
            "state": ["enum": ["open", "ready"]], "values": values(at: .review), "missing": Self.strings,
            "steps": Self.list(of: Self.reference("StepSummary")),
        ])
    }

    private func values(at place: DisplayContext) -> JSON {
        let properties = flow.fields.filter { $0.kind.repeatedField == nil }
            .map { JSON.Member($0.name.rawValue, $0.kind.shownSchema(at: place)) }
        return ["type": "object", "additionalProperties": false, "properties": .object(properties)]
    }

    /// An account. The values of its other fields are additional members with the names of the fields. The schema does
    /// not list them, because an account may be older than the flow.
    private var account: JSON {
        [
            "type": "object", "required": ["id", "created_at"],
            "properties": [
                "id": Self.string, "email": Self.string, "username": Self.string, "created_at": Self.instant,
            ],
        ]
    }

    private var flowSchema: JSON {
        let step = Self.object(.object(Self.stepMembers + [.init("fields", Self.list(of: Self.reference("Field")))]))
        return Self.object([
            "flow": Self.string, "service": Self.string, "language": Self.string, "languages": Self.strings,
            "steps": Self.list(of: step),
        ])
    }

    private static let stepMembers: [JSON.Member] = [
        .init("name", string), .init("title", string), .init("required", bool), .init("href", string),
    ]

    private static let summary: JSON = ["name": string, "state": state, "required": bool, "href": string]

    private static let fieldMembers: [JSON.Member] = [
        .init("name", string),
        .init("kind", ["enum": .array((KindList.names + [SecondFactorField.name]).map(JSON.string))]),
        .init("label", string),
        .init("help", ["type": ["string", "null"]]), .init("required", bool), .init("rules", ["type": "object"]),
        .init("input", object(["type": string], optional: ["autocomplete": string, "inputmode": string])),
    ]

    private static let field = object(.object(fieldMembers))

    // MARK: Problems

    private static let problem = object(
        [
            "type": ["type": "string", "format": "uri"], "title": string, "status": count, "detail": string,
            "request_id": string,
        ],
        optional: [
            "errors": errors, "missing": strings, "next": reference("Next"), "draft": reference("Draft"),
            "field": string, "reason": string, "restart": object(["method": string, "href": string]),
            "message": string,
        ]
    )

    private static let error = object([
        "pointer": string, "field": string,
        "code": fieldCodes, "params": ["type": "object"], "message": string,
    ])

    private static let problemType = object(
        [
            "slug": ["enum": .array(ProblemKind.allCases.map { .string($0.rawValue) })], "href": string,
            "status": count, "title": string, "meaning": string, "remedy": string, "members": strings,
            "headers": strings,
        ],
        optional: ["codes": list(of: reference("FieldCode"))]
    )

    private static let fieldCode = object([
        "code": fieldCodes, "meaning": string, "remedy": string, "params": strings,
    ])

    private static let fieldCodes: JSON = ["enum": .array(Refusal.Code.allCases.map { .string($0.rawValue) })]

    private static let errors = list(of: reference("Error"))

    // MARK: Shared schemas

    static let string: JSON = ["type": "string"]
    static let bool: JSON = ["type": "boolean"]
    static let count: JSON = ["type": "integer", "minimum": 0]
    static let instant: JSON = ["type": "string", "format": "date-time"]
    static let strings = list(of: string)
    private static let state: JSON = ["enum": .array(StepState.allCases.map { .string($0.rawValue) })]

    static func list(of item: JSON) -> JSON { ["type": "array", "items": item] }

    /// An object with exactly these members; all of them are required, except the optional ones.
    ///
    /// - Parameter rest: further required members, which follow the optional ones.
    static func object(_ members: JSON, optional: JSON = [:], then rest: JSON = [:]) -> JSON {
        guard case .object(let first) = members, case .object(let others) = optional, case .object(let last) = rest
        else {
            preconditionFailure("the members of a schema must be an object")
        }
        return [
            "type": "object", "properties": .object(first + others + last),
            "required": .array((first + last).map { .string($0.name) }), "additionalProperties": false,
        ]
    }
}

extension FlowPurpose {
    /// The prefix of the names of those schemas that differ between flows; empty for the sign-up.
    var schemaPrefix: String { self == .signup ? "" : "\(rawValue)." }
}
