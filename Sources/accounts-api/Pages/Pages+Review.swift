import Accounts
import HTTPTypes

extension Pages {
    /// The review page: all answers as text or pictures, with a link to each step whose answers the person can change.
    ///
    /// - Parameter shown: the JSON of the review.
    func review(_ shown: JSON, of draft: Draft?, after problem: Problem? = nil, in language: Language) -> Page {
        let missing: [JSON] = if case .array(let names) = shown["missing"] { names } else { [] }
        let states: [JSON] = if case .array(let states) = shown["steps"] { states } else { [] }
        let isMissing = { (field: Field) in missing.contains(.string(field.name.rawValue)) }
        // A value that the rules no longer accept is missing, too, but the page shows it.
        let isToFillIn = { (field: Field) in
            isMissing(field) && (shown["values"]?[field.name.rawValue] ?? .null) == .null
        }
        let isRecovery = signups.flow.purpose == .recovery
        // A confirmed code is a mark beside the address that it proves. It has no row, and a step with only such a code
        // is left out: the person changes the address in another step, and then gets a new code.
        let codes = signups.flow.fields.filter {
            $0.kind.provedField != nil && shown["values"]?[$0.name.rawValue]?["verified"] == true
                && !missing.contains(.string($0.name.rawValue))
        }
        let (marks, proved) = (Set(codes.map(\.name)), Set(codes.compactMap(\.kind.provedField)))
        let steps = states.compactMap { summary -> JSON? in
            guard let name = summary["name"]?.string, let step = signups.flow.step(named: StepName(name)),
                !step.fields.allSatisfy({ marks.contains($0.name) })
            else { return nil }
            let listed = step.fields.filter { $0.kind.repeatedField == nil && !marks.contains($0.name) }
            let fields = listed.map { field -> JSON in
                let value = shown["values"]?[field.name.rawValue]
                let hasPicture = field.kind.takesFile && value != nil
                return [
                    "label": .string(
                        field.kind.reviewLabel.map(language.messages.text) ?? field.shortLabel(in: language) ?? ""
                    ),
                    "text": .string(
                        isToFillIn(field) ? language.messages.text(.required) : text(of: value, in: field, language)
                    ),
                    "picture": hasPicture ? .string("\(step.href)/\(field.name)") : .null,
                    "is_missing": .bool(isMissing(field)),
                    "is_confirmed": .bool(proved.contains(field.name)),
                ]
            }
            // In a recovery, the step of an accepted second factor gets no link, because its code is used up.
            let asksForGuess = isRecovery && step.fields.allSatisfy(\.kind.takesGuess)
            let isConfirmed = asksForGuess && summary["state"] == "complete"
            let title = step.shortTitle(in: language) ?? ""
            return [
                "title": .string(title), "change": .string(language.messages.change(of: title)),
                "href": .string("\(step.href)?\(PageRequest.reviewMark)"), "fields": .array(fields),
                "is_open": .bool(summary["state"] != "locked" && !isConfirmed),
                "is_missing": .bool(listed.contains(where: isToFillIn)),
            ]
        }
        var page = Page(
            template: .review,
            title: language.messages.text(.review.inFlow(of: signups.flow.purpose)),
            status: problem?.slug.status ?? .ok,
            headers: problem?.headers ?? [:],
            notice: problem?.notice(in: language),
            members: [
                .init("steps", .array(steps)), .init("is_ready", .bool(shown["state"] == "ready")),
                .init("back", .string(signups.flow.steps.last?.href ?? signups.flow.purpose.path)),
            ]
        )
        let name = draft.flatMap { signups.identifyingAddress(in: $0.values) }
        if let name { page.members.append(.init("account_name", .string(name.rawValue))) }
        page.members.append(.init("has_cancel", .bool(name == nil || signups.flow.purpose != .signup)))
        if signups.flow.purpose != .signup, let draft {
            page.formTargets = provider.map { draft.authorizationTargets(among: $0.registry.current) } ?? []
            if let url = draft.values.returnURL.flatMap({ hosts?.allowed($0) }) { page.formTargets.append(url) }
        }
        return page
    }

    private func text(of value: JSON?, in field: Field, _ language: Language) -> String {
        guard let value, value != .null else { return language.messages.text(field.kind.missingText) }
        return field.kind.reviewText(value, in: language)
    }
}
