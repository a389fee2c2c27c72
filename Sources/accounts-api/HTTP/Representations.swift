import Accounts
import Foundation

/// The bodies that clients see. A column added to a table stays inside.
struct Representations: Sendable {
    let signups: Signups

    func draft(_ draft: Draft, cleared: [FieldName] = [], account: Account? = nil, token: Token? = nil) -> JSON {
        let standing = signups.standing(of: draft)
        let state = draft.account != nil ? "committed" : standing.isReady ? "ready" : "open"
        var members: [JSON.Member] = [
            .init("id", .string("\(draft.id)")), .init("flow", .string(draft.flow)),
            .init("revision", .integer(draft.revision)), .init("state", .string(state)),
        ]
        if draft.account == nil {
            members += [
                .next(standing.next),
                .init("progress", ["done": .integer(standing.done), "total": .integer(standing.total)]),
                .init("missing", .array(standing.missing.map { .string($0.rawValue) })),
                .init("steps", .array(signups.flow.steps.map { summary(of: $0, standing) })),
                .init("values", values(of: draft, atReview: false)),
                .init("cleared", .array(cleared.map { .string($0.rawValue) })),
            ]
        }
        members += [
            .init("expires_at", .string(draft.expiresAt.timestamp)),
            .init("expires_in", .integer(max(0, Int(draft.expiresAt.timeIntervalSince(draft.now))))),
        ]
        if let account { members.append(.init("account", self.account(account))) }
        if let token { members.append(.init("token", .string(token.text))) }
        return .object(members)
    }

    private func summary(of step: Step, _ standing: Standing) -> JSON {
        [
            "name": .string(step.name.rawValue), "state": .string(standing.states[step.name]!.rawValue),
            "required": .bool(!step.isOptional), "href": .string(step.href),
        ]
    }

    /// One step, with everything that a client needs to ask for it.
    func step(_ step: Step, of draft: Draft) -> JSON {
        let standing = signups.standing(of: draft)
        let fields = step.fields.map { field -> JSON in
            .object([
                .init("name", .string(field.name.rawValue)), .init("kind", .string(type(of: field.kind).name)),
                .init("label", .string(field.labels[draft.language] ?? field.labels.values.first ?? "")),
                .init("required", .bool(field.isRequired)), .init("rules", .object(field.kind.rules)),
                .init("value", value(of: field, draft, atReview: true) ?? .null),
            ])
        }
        var members: [JSON.Member] = [
            .init("name", .string(step.name.rawValue)),
            .init("title", .string(step.titles[draft.language] ?? step.titles.values.first ?? "")),
            .init("state", .string(standing.states[step.name]!.rawValue)), .init("required", .bool(!step.isOptional)),
            .init("href", .string(step.href)), .init("fields", .array(fields)),
        ]
        for field in step.fields {
            guard let code = field.kind as? CodeField, let proof = draft.proofs[field.name], !proof.isProved else {
                continue
            }
            let waited = draft.now.timeIntervalSince(proof.sentAt)
            members += [
                .init("resend_after", .integer(max(0, code.resendAfter.seconds - Int(waited)))),
                .init("code_expires_at", .string(proof.expiresAt.timestamp)),
                .init("server_time", .string(draft.now.timestamp)),
            ]
        }
        return .object(members)
    }

    func review(_ draft: Draft) -> JSON {
        let standing = signups.standing(of: draft)
        return [
            "state": .string(standing.isReady ? "ready" : "open"),
            "values": values(of: draft, atReview: true),
            "missing": .array(standing.missing.map { .string($0.rawValue) }),
            "steps": .array(signups.flow.steps.map { summary(of: $0, standing) }),
        ]
    }

    func account(_ account: Account) -> JSON {
        var members: [JSON.Member] = [.init("id", .string("\(account.id)"))]
        if let email = account.email { members.append(.init("email", .string(email))) }
        if let username = account.username { members.append(.init("username", .string(username))) }
        if case .object(let profile) = account.profile { members += profile }
        return .object(members + [.init("created_at", .string(account.createdAt.timestamp))])
    }

    private func values(of draft: Draft, atReview: Bool) -> JSON {
        .object(
            signups.flow.fields.compactMap { field in
                value(of: field, draft, atReview: atReview).map { .init(field.name.rawValue, $0) }
            }
        )
    }

    private func value(of field: Field, _ draft: Draft, atReview: Bool) -> JSON? {
        if field.kind is CodeField {
            return draft.proofs[field.name]?.isProved == true ? ["verified": true] : nil
        }
        return draft.values[field.name].map { field.kind.shown($0, atReview: atReview) }
    }
}
