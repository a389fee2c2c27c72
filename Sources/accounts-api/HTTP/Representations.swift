import Accounts
import Foundation

/// Drafts, steps, accounts and the flow as clients see them, in JSON. Clients do not see a new column of a table until
/// it is added here.
struct Representations: Sendable {
    let signups: Signups

    func draft(
        _ draft: Draft,
        cleared: [FieldName] = [],
        recoveryCodes: [RecoveryCode] = [],
        account: Account? = nil,
        token: Token<Draft>? = nil
    ) -> JSON {
        let progress = signups.progress(of: draft)
        let state = draft.account != nil ? "committed" : progress.isReady ? "ready" : "open"
        var members: [JSON.Member] = [
            .init("id", .string("\(draft.id)")), .init("flow", .string(draft.flow)),
            .init("revision", .integer(draft.revision)), .init("state", .string(state)),
        ]
        if draft.account == nil {
            members += [
                .next(progress.next, of: signups.flow),
                .init("progress", ["done": .integer(progress.done), "total": .integer(progress.total)]),
                .init("missing", .array(progress.missing.map { .string($0.rawValue) })),
                .init("steps", .array(progress.steps.map { summary(of: $0, progress) })),
                .init("values", values(of: draft, at: .draft)),
                .init("cleared", .array(cleared.map { .string($0.rawValue) })),
            ]
        }
        members += [
            .init("expires_at", .string(draft.expiresAt.timestamp)),
            .init("expires_in", .integer(max(0, Int(draft.expiresAt.timeIntervalSince(draft.now))))),
        ]
        if !recoveryCodes.isEmpty {
            members.append(.init("recovery_codes", .array(recoveryCodes.map { .string($0.text) })))
        }
        if let account { members.append(.init("account", Self.account(account))) }
        if let token { members.append(.init("token", .string(token.text))) }
        return .object(members)
    }

    private func summary(of step: Step, _ progress: SignupProgress) -> JSON {
        [
            "name": .string(step.name.rawValue), "state": .string(progress.states[step.name]!.rawValue),
            "required": .bool(!step.isOptional), "href": .string(step.href),
        ]
    }

    /// One step, with everything that a client needs to show its form.
    ///
    /// - Parameter enrolment: the data to set up an authenticator app; nil if the step asks for no app, or if the draft
    ///   already has one.
    func step(_ step: Step, of draft: Draft, _ enrolment: Enrolment? = nil) -> JSON {
        let progress = signups.progress(of: draft)
        let description = description(in: draft.language)
        let fields = step.fields.map { field -> JSON in
            .object(
                description.members(of: field) + [
                    .init("value", field.kind.shown(field, in: draft, at: .step) ?? .null)
                ]
            )
        }
        var members =
            description.members(of: step) + [
                .init("state", .string(progress.states[step.name]!.rawValue)), .init("fields", .array(fields)),
            ]
        for field in step.fields { members += field.kind.stepMembers(field, in: draft) }
        if let enrolment {
            members += [
                .init("secret", .string(enrolment.secret)), .init("otpauth_uri", .string(enrolment.uri)),
                .init("seconds_remaining", .integer(enrolment.secondsRemaining)),
            ]
            if let code = QRCode(enrolment.uri) { members.append(.init("qr_svg", .string(code.svg))) }
        }
        return .object(members + [.init("server_time", .string(draft.now.timestamp))])
    }

    /// One step whose values people can change in their account.
    ///
    /// - Parameter draft: a draft that is not stored, with the values of the account.
    func accountStep(_ step: Step, of draft: Draft) -> JSON {
        let description = description(in: draft.language)
        let fields = step.fields.map { field -> JSON in
            .object(
                description.members(of: field) + [
                    .init("value", field.kind.shown(field, in: draft, at: .step) ?? .null)
                ]
            )
        }
        return .object(description.members(of: step) + [.init("fields", .array(fields))])
    }

    /// The whole flow, for clients that build their forms before a sign-up starts.
    func schema(in language: Language) -> JSON { description(in: language).json }

    private func description(in language: Language) -> FlowDescription {
        FlowDescription(flow: signups.flow, serviceName: signups.serviceName, language: language)
    }

    func review(_ draft: Draft) -> JSON {
        let progress = signups.progress(of: draft)
        return [
            "state": .string(progress.isReady ? "ready" : "open"),
            "values": values(of: draft, at: .review),
            "missing": .array(progress.missing.map { .string($0.rawValue) }),
            "steps": .array(progress.steps.map { summary(of: $0, progress) }),
        ]
    }

    static func account(_ account: Account) -> JSON {
        var members: [JSON.Member] = [.init("id", .string("\(account.id)"))]
        if let email = account.email { members.append(.init("email", .string(email))) }
        if let username = account.username { members.append(.init("username", .string(username))) }
        if case .object(let profile) = account.profile { members += profile }
        return .object(members + [.init("created_at", .string(account.createdAt.timestamp))])
    }

    private func values(of draft: Draft, at place: DisplayContext) -> JSON {
        .object(
            signups.flow.fields.compactMap { field in
                field.kind.shown(field, in: draft, at: place).map { .init(field.name.rawValue, $0) }
            }
        )
    }
}
