import Accounts

/// The schemas of the bodies about sessions and accounts.
extension Schemas {
    /// The member `continue`: the page to which the person goes after a sign-up or a recovery, unless it is the page of
    /// the account.
    static let continuation = object(["href": string], optional: ["application": string, "name": string])

    static let sessions: [JSON.Member] = [
        .init(
            "SignIn",
            request(
                [
                    "identifier": string, "password": ["type": "string", "format": "password", "writeOnly": true],
                ],
                optional: ["keep": ["type": ["boolean", "null"]]],
                transport
            )
        ),
        .init("MailSignInCode", request(["identifier": string], transport)),
        .init("RedeemSignInTicket", request(["ticket": string], transport)),
        .init("UndoEmailChange", object(["token": string])),
        .init("OAuthError", object(["error": string, "error_description": string])),
        .init("SignInCode", request(["code": string], ["device": string, "transport": true])),
        .init(
            "Confirm",
            request(
                [:],
                optional: ["password": string, "code": string, "recovery_code": string],
                ["device": string, "transport": true]
            )
        ),
        .init("Session", session),
        .init(
            "SignInState",
            object(
                [
                    "session": [
                        "anyOf": [
                            reference("Session"),
                            object(["state": ["enum": ["second-factor", "code"]]]),
                            ["type": "null"],
                        ]
                    ],
                    "next": ["anyOf": [reference("Next"), ["type": "null"]]],
                ],
                optional: [
                    "account": reference("Account"), "token": string, "device": string, "recovery_code": string,
                ]
            )
        ),
        .init("Sessions", object(["sessions": list(of: listed)])),
        .init(
            "AccountOverview",
            object(["account": reference("Account"), "factors": factors, "consents": consents])
        ),
        .init(
            "AccountExport",
            object([
                "exported_at": instant, "account": reference("Account"), "flow": string, "language": string,
                "email_proved_at": ["type": ["string", "null"]], "factors": factors, "consents": consents,
                "sessions": list(of: listed), "devices": list(of: object(["last_used_at": instant])),
                "left_addresses": list(
                    of: object([
                        "address": ["type": ["string", "null"]], "left_at": instant, "restorable_until": instant,
                    ])
                ),
                "photos": list(of: object(["field": string, "type": string, "bytes": count, "href": string])),
                "past_consents": list(of: object(consent, then: ["ended_at": instant])),
            ])
        ),
        .init(
            "Enrolment",
            object(
                ["secret": string, "otpauth_uri": string, "seconds_remaining": count],
                optional: ["qr_svg": string]
            )
        ),
        .init(
            "Change",
            object(
                [:],
                optional: [
                    "session": reference("Session"), "recovery_codes": strings, "token": string, "device": string,
                ]
            )
        ),
    ]

    /// The body that changes a password: the password field of the flow, and the field that repeats it if there is one.
    var newPassword: JSON {
        let fields = flow.fields.filter { $0.kind.takesSecret }
        return Self.object(.object(fields.map { .init($0.name.rawValue, $0.kind.answerSchema) }))
    }

    private static let transport: JSON = ["transport": ["enum": ["cookie", "bearer"]], "device": string]

    private static let session = object([
        "id": string, "state": ["const": "active"], "assurance": ["enum": ["aal1", "aal2"]], "amr": strings,
        "auth_time": instant, "created_at": instant, "expires_at": instant, "idle_expires_at": instant,
    ])

    private static let factors = object(["password": bool, "totp": bool, "recovery_codes_left": count])

    private static let consent: JSON = ["field": string, "accepted": bool, "version": string, "at": instant]
    private static let consents = list(of: object(consent))

    private static let listed = object([
        "id": string, "current": bool, "created_at": instant, "last_seen_at": instant,
        "network": ["type": ["string", "null"]], "browser": ["type": ["string", "null"]],
        "applications": ["type": "array", "items": string],
    ])

    private static func request(_ required: JSON, optional: JSON = [:], _ others: JSON) -> JSON {
        object(required, optional: .object(optional.members + others.members))
    }
}

extension JSON {
    fileprivate var members: [Member] { if case .object(let members) = self { members } else { [] } }
}
