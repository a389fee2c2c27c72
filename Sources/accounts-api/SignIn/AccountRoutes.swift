import Accounts
import HTTPTypes
import Hummingbird

/// The handlers with which people see, change and erase their account.
struct AccountRoutes: Sendable {
    let sessions: Sessions
    let representations: Representations
    let cookies: SessionCookies
    let uploads: Uploads

    @Sendable func show(_ request: Request, _ context: SessionContext) async throws -> Answer {
        let account = context.session.account
        let overview = try await sessions.overview(of: account.id)
        return Answer(json: [
            "account": Representations.account(account),
            "factors": overview.factors, "consents": overview.consentList,
        ])
    }

    @Sendable func changePassword(_ request: Request, _ context: SessionContext) async throws -> Answer {
        let new = try await sessions.from(context.network, cookies.client(of: request)).changePassword(
            context.answers,
            of: context.session,
            in: context.language
        )
        return changed(new, in: context)
    }

    @Sendable func showStep(_ request: Request, _ context: SessionContext) async throws -> Answer {
        let draft = try await sessions.draft(of: context.session, in: context.language)
        return Answer(json: representations.accountStep(try step(context), of: draft))
    }

    @Sendable func edit(_ request: Request, _ context: SessionContext) async throws -> Answer {
        let account = try await sessions.from(context.network, cookies.client(of: request)).edit(
            context.answers,
            in: step(context),
            of: context.session,
            in: context.language
        )
        return Answer(json: ["account": Representations.account(account)])
    }

    /// The step in the path, which is always one that people can change in their account.
    func step(_ context: SessionContext) throws -> Step {
        guard let step = context.step else { throw Problem.unknownStep }
        return step
    }

    @Sendable func removePhoto(_ request: Request, _ context: SessionContext) async throws -> Answer {
        let (step, field) = try image(context)
        try await sessions.from(context.network, cookies.client(of: request)).remove(
            field,
            in: step,
            of: context.session,
            in: context.language
        )
        return Answer(status: .noContent)
    }

    /// The image field in the path, and its step. Throws if no step that people can change has such a field.
    func image(_ context: SessionContext) throws -> (step: Step, field: Field) {
        let name = context.parameters.get("photo").map { FieldName(String($0)) }
        for step in sessions.flow.editableSteps {
            if let field = step.images.first(where: { $0.name == name }) { return (step, field) }
        }
        throw Problem.noImageField
    }

    @Sendable func showAuthenticator(_ request: Request, _ context: SessionContext) async throws -> Answer {
        let enrolment = try await sessions.enrolment(of: context.session)
        var members: [JSON.Member] = [
            .init("secret", .string(enrolment.secret)), .init("otpauth_uri", .string(enrolment.uri)),
            .init("seconds_remaining", .integer(enrolment.secondsRemaining)),
        ]
        if let code = QRCode(enrolment.uri) { members.append(.init("qr_svg", .string(code.svg))) }
        return Answer(json: .object(members))
    }

    @Sendable func addAuthenticator(_ request: Request, _ context: SessionContext) async throws -> Answer {
        var body = SignInBody(context.answers, members: ["code"])
        let code = body.digits("code", TOTP.digits)
        let (codes, new) = try await sessions.from(context.network, cookies.client(of: request)).addAuthenticator(
            body.checked(code, in: context.language),
            to: context.session,
            in: context.language
        )
        return changed(new, codes, in: context)
    }

    @Sendable func removeAuthenticator(_ request: Request, _ context: SessionContext) async throws -> Answer {
        let new = try await sessions.from(context.network, cookies.client(of: request)).removeAuthenticator(
            of: context.session,
            in: context.language
        )
        return changed(new, in: context)
    }

    @Sendable func newRecoveryCodes(_ request: Request, _ context: SessionContext) async throws -> Answer {
        let (codes, new) = try await sessions.from(context.network, cookies.client(of: request)).newRecoveryCodes(
            of: context.session,
            in: context.language
        )
        return changed(new, codes, in: context)
    }

    /// The answer after a change of credentials: the new recovery codes if there are any, and the session with its new
    /// token, unless a sign-out ended the session during the change.
    func changed(_ new: NewSession?, _ codes: [RecoveryCode] = [], in context: SessionContext) -> Answer {
        var answer = Answer(
            json: codes.isEmpty ? .object([]) : ["recovery_codes": .array(codes.map { .string($0.text) })]
        )
        if let new { answer.add(new, isBearer: context.isBearerOnly, cookies) }
        return answer
    }

    @Sendable func erase(_ request: Request, _ context: SessionContext) async throws -> Answer {
        try await sessions.from(context.network, cookies.client(of: request)).eraseAccount(
            of: context.session,
            in: context.language
        )
        return erased
    }

    var erased: Answer {
        var answer = Answer.signedOut(cookies)
        answer.headers.append(cookies.device.clear)
        return answer
    }
}

extension AccountOverview {
    var factors: JSON {
        [
            "password": .bool(hasPassword), "totp": .bool(hasAuthenticator),
            "recovery_codes_left": .integer(recoveryCodes),
        ]
    }

    var consentList: JSON {
        .array(consents.map(\.json))
    }
}

extension GivenConsent {
    var json: JSON {
        [
            "field": .string(field), "accepted": .bool(isAccepted), "version": .string(version),
            "at": .string(givenAt.timestamp),
        ]
    }
}

extension AccountRoutes {
    var operations: [Operation] {
        [
            .init(.get, "account", .showAccount, responses: [.ok: .accountOverview], .session(show)),
            .init(.delete, "account", .eraseAccount, responses: [.noContent: .nothing], .session(erase)),
            .init(
                .put,
                "account/password",
                .changePassword(secretMembers: sessions.signups.flow.secretMembers),
                responses: [.ok: .change],
                .session(changePassword)
            ),
            .init(.get, "account/:step", .showAccountStep, responses: [.ok: .accountStep], .session(showStep)),
            .init(.put, "account/:step", .editAccountStep, responses: [.ok: .editedAccount], .session(edit)),
            .init(.post, "account/:step", .editAccountStepForm, responses: [.ok: .editedAccount], .session(edit)),
            .init(
                .delete,
                "account/photos/:photo",
                .removeAccountPhoto,
                responses: [.noContent: .nothing],
                .session(removePhoto)
            ),
            .init(
                .post,
                "account/photos/:photo/remove",
                .removeAccountPhotoForm,
                responses: [.noContent: .nothing],
                .session(removePhoto)
            ),
            .init(.get, "account/totp", .showAuthenticator, responses: [.ok: .enrolment], .session(showAuthenticator)),
            .init(
                .put,
                "account/totp",
                .addAuthenticator,
                responses: [.ok: .change],
                .session(addAuthenticator)
            ),
            .init(
                .delete,
                "account/totp",
                .removeAuthenticator,
                responses: [.ok: .change],
                .session(removeAuthenticator)
            ),
            .init(
                .post,
                "account/recovery-codes",
                .newRecoveryCodes,
                responses: [.ok: .change],
                .session(newRecoveryCodes)
            ),
        ]
    }
}

extension Operation.Act {
    static let showAccount = Self("showAccount", "Returns the account, its factors and its consents")

    static let eraseAccount = Self(
        "eraseAccount",
        "Erases the account with everything that belongs to it",
        problems: [.confirmationRequired, .rateLimited]
    )

    static func changePassword(secretMembers: Set<String>) -> Self {
        Self(
            "changePassword",
            "Replaces the password; all other sessions end",
            body: .members("NewPassword", secretMembers: secretMembers),
            problems: [.confirmationRequired, .notFound, .validationFailed, .rateLimited, .busy]
        )
    }

    static let showAccountStep = Self(
        "showAccountStep",
        "Returns the values of a step that people can change in their account",
        problems: [.unknownStep]
    )

    static let editAccountStep = Self(
        "editAccountStep",
        "Replaces the values of a step in the account",
        body: .edits,
        problems: [.unknownStep, .validationFailed, .rateLimited, .busy]
    )

    static let editAccountStepForm = Self(
        "editAccountStepForm",
        "The same as PUT, for HTML forms",
        body: .edits,
        problems: [.unknownStep, .validationFailed, .rateLimited, .busy]
    )

    static let removeAccountPhoto = Self(
        "removeAccountPhoto",
        "Deletes a photo of the account",
        problems: [.notFound, .validationFailed]
    )

    static let removeAccountPhotoForm = Self(
        "removeAccountPhotoForm",
        "The same as DELETE, for HTML forms",
        problems: [.notFound, .validationFailed]
    )

    static let showAuthenticator = Self(
        "showAccountAuthenticator",
        "Returns what is needed to set up an authenticator app",
        problems: [.confirmationRequired]
    )

    static let addAuthenticator = Self(
        "addAuthenticator",
        "Sets up the authenticator app that shows this code, in place of an earlier one; all other sessions end",
        body: .members("SignInCode"),
        problems: [.confirmationRequired, .notFound, .validationFailed]
    )

    static let removeAuthenticator = Self(
        "removeAuthenticator",
        "Removes the authenticator app and its recovery codes, unless the flow requires an app; all other sessions end",
        problems: [.confirmationRequired, .factorRequired, .notFound]
    )

    static let newRecoveryCodes = Self(
        "newRecoveryCodes",
        "Replaces all recovery codes; all other sessions end",
        problems: [.confirmationRequired, .notFound]
    )
}
