import Accounts
import Foundation
import HTTPTypes

extension Pages {
    /// The page with the form of a step.
    ///
    /// - Parameters:
    ///   - shown: the JSON of the step.
    ///   - problem: the problem that the person can solve on this page, such as refused answers; nil for none.
    ///   - answers: what the form is filled in with, such as the refused answers, but never passwords or codes; nil for
    ///     the stored values.
    ///   - news: a notice to show if there is no problem, such as that a new code was sent; nil for none.
    func step(
        _ shown: JSON,
        _ step: Step,
        of draft: Draft,
        after problem: Problem? = nil,
        _ answers: Answers? = nil,
        news: Word? = nil,
        in language: Language
    ) -> Page {
        let form = StepForm(
            step: step,
            draft: draft,
            context: signups.validationContext(of: draft),
            problem: problem,
            answers: answers,
            language: language,
            assets: assets
        )
        guard case .array(let described) = shown["fields"] else { preconditionFailure("a step has fields") }
        let fields = zip(step.fields, described).map { form.members(of: $0, $1) }
        let progress = signups.progress(of: draft)
        let (steps, states) = (progress.steps, progress.states)
        let index = steps.firstIndex { $0.name == step.name } ?? 0
        var members: [JSON.Member] = [
            .init("step", shown), .init("fields", .array(fields)), .init("place", .integer(index + 1)),
            .init("places", .integer(steps.count)), .init("draft", .string("\(draft.id)")),
            .init("can_skip", .bool(step.isOptional && !step.fields.contains { draft.values.contains($0.name) })),
            .init(
                "can_hand_off",
                .bool(signups.flow.purpose == .signup && draft.proofs.values.contains(where: \.isProved))
            ),
            .init(
                "steps",
                .array(
                    steps.map { other in
                        [
                            "title": .string(other.shortTitle(in: language) ?? ""), "href": .string(other.href),
                            "is_current": .bool(other.name == step.name),
                            "is_open": .bool(states[other.name] != .locked && other.name != step.name),
                            "is_complete": .bool(states[other.name] == .complete),
                        ]
                    }
                )
            ),
        ]
        members.append(.init("has_files", .bool(!step.images.isEmpty)))
        let proved = signups.flow.fields.compactMap(\.kind.provedField)
        let redone = signups.flow.stepsThatAnAddressChangeClears(in: draft.values)
        if !redone.isEmpty, step.fields.contains(where: { proved.contains($0.name) }) {
            let titles = redone.map { $0.shortTitle(in: language) ?? $0.name.rawValue }
            members.append(.init("redone", .string(titles.joined(separator: ", "))))
        }
        members.append(.init("is_refused", .bool(problem != nil)))
        // Password managers store a new password under this name.
        let name = signups.identifyingAddress(in: draft.values)
        if let name { members.append(.init("account_name", .string(name.rawValue))) }
        // In a sign-up, the line that shows the address already has a link to cancel.
        members.append(.init("has_cancel", .bool(name == nil || signups.flow.purpose != .signup)))
        let previous = index > 0 ? steps[index - 1].href : nil
        let back = PageRequest.current?.isFromReview == true ? signups.flow.reviewPath : previous
        if let back { members.append(.init("back", .string(back))) }
        if fields.contains(where: { $0["is_set"] == true }), step.fields.allSatisfy(\.kind.isHidden) {
            members.append(.init("keep", .string(progress.next?.href ?? signups.flow.reviewPath)))
        }
        let hasOnlyGuesses = step.fields.allSatisfy(\.kind.takesGuess)
        let isClosed = hasOnlyGuesses && fields.allSatisfy { $0["is_set"] == true }
        if shown["code_expires_at"] != nil, let address = form.addressOfCode {
            members.append(.init("address", .string(address)))
        }
        if let mark = signups.addressMark(at: step, of: draft) {
            members += [
                .init("address_mark", ["name": .string(SignupRoutes.addressMark.rawValue), "value": .string(mark)])
            ]
        }
        if let secret = shown["secret"]?.string {
            members.append(.init("secret_groups", .array(secret.inGroups(of: 4).map(JSON.string))))
        }
        // The first step has the same title and text as on the page that starts the draft. The title of the step alone
        // may not say that the flow is a recovery or a change of the address.
        let introduction = index == 0 ? introduction(in: language) : nil
        if let text = introduction?.text { members.append(.init("introduction", .string(text))) }
        let offersSignIn = signups.flow.purpose == .signup && (index == 0 || shown["code_expires_at"] != nil)
        members.append(.init("offers_sign_in", .bool(offersSignIn)))
        if step.fields.contains(where: { $0.kind.topic == .secondFactor }) {
            members.append(.init("contact", contact(in: language)))
        }
        // If the code has expired or takes no more guesses, the person needs another code. If the draft gets no further
        // code, the person needs another draft.
        let isOver = step.fields.contains { form.isOver($0) }
        let needsLink = hasOnlyGuesses && problem?.needsTicket == true
        let needsCode = hasOnlyGuesses && !isOver && !needsLink && fields.contains { $0["is_used_up"] == true }
        members += [
            .init("has_next", .bool(!isClosed && !isOver && !needsLink && !needsCode)),
            .init("is_closed", .bool(isClosed)), .init("is_over", .bool(isOver)), .init("needs_code", .bool(needsCode)),
            .init("can_resend", .bool(shown["code_expires_at"] != nil && !isOver && !needsLink)),
        ]
        return Page(
            template: .step,
            // After the code was entered, the title must not ask for the code.
            title: introduction?.title ?? (isClosed ? step.shortTitle(in: language) : step.titles[language]) ?? "",
            status: problem?.slug.status ?? .ok,
            headers: problem?.headers ?? [:],
            notice: problem?.notice(in: language) ?? news.map { language.messages.text($0) },
            isNews: problem == nil,
            members: members
        )
    }
}

extension Pages {
    /// The texts of the first step: the title that replaces its own, nil for a sign-up, and the text below the title.
    func introduction(in language: Language) -> (title: String?, text: String) {
        let messages = language.messages
        return switch signups.flow.purpose {
        case .signup: (nil, messages.signUp(serviceName: signups.serviceName))
        case .recovery: (messages.text(.recoverTitle), messages.text(.recoverText))
        case .emailChange: (messages.text(.emailChangeTitle), messages.text(.emailChangeText))
        }
    }

    /// The page with the form of a step that people may change in their account.
    func edit(
        _ shown: JSON,
        _ step: Step,
        of draft: Draft,
        after problem: Problem?,
        _ answers: Answers?,
        notice: Word? = nil,
        in language: Language
    ) -> Page {
        let form = StepForm(
            step: step,
            draft: draft,
            context: signups.validationContext(of: draft),
            problem: problem,
            answers: answers,
            language: language,
            assets: assets
        )
        guard case .array(let described) = shown["fields"] else { preconditionFailure("a step has fields") }
        let hasOnlyConsents = step.fields.allSatisfy { $0.kind.accountPart == .consents }
        return Page(
            template: .edit,
            title: (hasOnlyConsents ? language.messages.text(.consents) : step.titles[language]) ?? "",
            status: problem?.slug.status ?? .ok,
            headers: problem?.headers ?? [:],
            notice: problem?.notice(in: language) ?? notice.map(language.messages.text),
            isNews: problem == nil,
            members: [
                .init("action", .string(step.href)), .init("step", .string(step.name.rawValue)),
                .init("has_files", .bool(!step.images.isEmpty)),
                .init("is_refused", .bool(problem != nil)), .init("can_sign_out", true),
                .init("fields", .array(zip(step.fields, described).map { form.members(of: $0, $1) })),
            ]
        )
    }
}

/// Creates the template values for the fields of a step.
private struct StepForm {
    let step: Step
    let draft: Draft
    let context: ValidationContext
    let problem: Problem?
    let answers: Answers?
    let language: Language
    let assets: Assets

    /// The address that the code of this step proves; nil if the step has no code, or the draft has no address yet.
    var addressOfCode: String? {
        step.fields.compactMap(\.kind.provedField).first.flatMap { draft.values.address(in: $0)?.rawValue }
    }

    /// - Parameter described: the JSON of the field.
    func members(of field: Field, _ described: JSON) -> JSON {
        guard case .object(var members) = described else { preconditionFailure("a field is described by an object") }
        let stored = described["value"] ?? .null
        let value = field.kind.isHidden ? .null : answers.map { $0[field.name]?.json ?? .null } ?? stored
        members.removeAll { $0.name == "value" }
        members += [
            .init("control", .string(assets.template(ofField: field.kind.template))),
            .init("answer_type", field.kind.answerSchema["type"] ?? "string"),
            .init("value", field.kind.written(json: value).map(JSON.string) ?? value.asText),
            .init("is_set", .bool(stored["set"] == true || stored["verified"] == true)),
            .init("id", .string("field-\(field.name)")),
            .init("short_label", .string(field.shortLabel(in: language) ?? "")),
            .init("autocapitalize", field.control.capitalization.map { .string($0.rawValue) } ?? .null),
            .init("is_unspelled", .bool(field.control.isUnspelled)),
        ]
        if let proved = field.kind.provedField, let address = draft.values.address(in: proved) {
            members.append(.init("proved_address", .string(address.rawValue)))
        }
        let (exhaustion, errors) = (exhaustion(of: field), messages(for: field.name))
        if let exhaustion {
            members.append(.init("is_used_up", true))
            if errors.isEmpty { members.append(.init("error", .string(exhaustion))) }
        }
        if !errors.isEmpty { members.append(.init("error", .string(errors.joined(separator: " ")))) }
        members += field.kind.templateMembers(
            FormField(
                field: field,
                step: step,
                value: value,
                shown: stored,
                language: language,
                now: draft.now,
                zone: context.flow.zone
            )
        )
        return .object(members)
    }

    private func messages(for field: FieldName) -> [String] { errors(of: field).compactMap { $0["message"]?.string } }

    private func errors(of field: FieldName) -> [JSON] {
        guard case .array(let errors) = problem?.members.first(where: { $0.name == "errors" })?.value else { return [] }
        return errors.filter { $0["field"]?.string == field.rawValue }
    }

    /// Whether the person must start again, because the draft gets no further code for the field.
    func isOver(_ field: Field) -> Bool {
        if case .exhausted = field.kind.obstacle(field, in: context) { return true }
        return errors(of: field.name).contains { $0["params"]?["final"] == true }
    }

    /// The message about a code that has expired or takes no more guesses; nil if the person can enter the code. The
    /// draft was read before the refused guess and does not count it, so the refusal may be the first to say that no
    /// guess is left.
    private func exhaustion(of field: Field) -> String? {
        let message = { (code: Refusal.Code, params: [String: JSON]) in
            Refusal(field.name, code, params).message(in: language, of: context.flow)
        }
        switch field.kind.obstacle(field, in: context) {
        case .codeUsedUp: return message(.codeExhausted, [:])
        case .exhausted: return message(.codeExhausted, ["final": true])
        case .codeExpired: return message(.codeExpired, [:])
        default:
            let isLast = errors(of: field.name).contains { $0["params"]?["attempts_left"] == 0 }
            return isLast ? message(.codeExhausted, [:]) : nil
        }
    }
}

extension JSON {
    /// The value for a text control, if it is a string or an integer; otherwise null, because other templates show
    /// values of other types.
    fileprivate var asText: JSON {
        switch self {
        case .string, .integer: self
        default: .null
        }
    }
}

extension String {
    func inGroups(of size: Int) -> [String] {
        stride(from: 0, to: count, by: size).map { String(dropFirst($0).prefix(size)) }
    }
}
