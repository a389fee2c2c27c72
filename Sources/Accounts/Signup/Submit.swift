internal import Foundation

package enum SubmitError: Error {
    /// An earlier required step is missing.
    case locked(next: Step?)
    case refused([Refusal])
    case limited(LimitReached)
    /// The draft is at another revision than the one asked for.
    case stale(Draft)
    case committed
    case find(FindError)
    case hashing(HashingError)
    case image(ImageError)
    /// Too many others write to the same draft.
    case contended
    case database(DatabaseError)
}

/// The draft after an act, and what the act cleared.
package struct Outcome: Sendable {
    package let draft: Draft
    package let cleared: [FieldName]
    /// Where an authenticator was set up: what helps if it is lost, told this one time.
    package var recoveryCodes: [RecoveryCode] = []
}

extension Signups {
    /// Replaces the answers of one step: all of them hold, or nothing changes.
    ///
    /// Two requests that submit different steps at once both succeed: whoever finds the draft changed judges it again as
    /// it now is. A password is hashed and a code is spent once all the same.
    ///
    /// - Parameter revision: the revision that the client saw, if it insists on it.
    package func submit(
        _ answers: Answers,
        to step: Step,
        of draft: Draft,
        at revision: Int? = nil
    ) async throws(SubmitError) -> Outcome {
        let completed = CompletedWork()
        do throws(SubmitError) {
            return try await revise(draft, step, at: revision) { (draft) throws(SubmitError) in
                try await self.change(to: step, of: draft, by: answers, completed)
            }
        } catch {
            if case .refused(let refusals) = error { funnel.refused(refusals, at: step.name, of: flow) }
            throw error
        }
    }

    /// Only what happens for the first time tells how people come along.
    private func count(_ step: Step, before: Draft, after: Draft) {
        let hasMoved = before.flow != flow.id
        let isFirst = after.values.answered.contains(step.name) && !before.values.hasSeen(step.name)
        guard isFirst else {
            // Whoever comes from another version of the flow comes in where they are.
            if hasMoved { funnel.entered(after.step, of: flow) }
            return
        }
        // A step that was not the next may be answered as well.
        if hasMoved || before.step != step.name.rawValue { funnel.entered(step.name.rawValue, of: flow) }
        let isSkipped = step.isOptional && step.fields.allSatisfy { !after.values.contains($0.name) }
        let time = after.updatedAt.timeIntervalSince(before.updatedAt)
        funnel.answered(step.name.rawValue, of: flow, isSkipped: isSkipped, after: time)
        if after.step != before.step, !after.values.hasSeen(StepName(after.step)) {
            funnel.entered(after.step, of: flow)
        }
    }

    /// Why nothing can be written to that step, as far as the draft that was found tells; ``revise(_:_:at:_:)`` looks again.
    package func obstacle(to step: Step, of draft: Draft) -> SubmitError? {
        if draft.account != nil { return .committed }
        if SignupProgress.isLocked(step, in: validationContext(of: draft)) {
            return .locked(next: progress(of: draft).next)
        }
        // A draft begins at revision 1.
        return draft.revision > flow.limits.revisions ? .limited(revisions(of: draft)) : nil
    }

    /// Repeats `change` until it is written to the revision that it was made for. Nil means that there is nothing to do.
    ///
    /// The first change is made before the draft's turn, because it may take long: a password is hashed, an image decoded.
    ///
    /// - Parameter revision: the revision that the client saw, if it insists on it.
    func revise(
        _ draft: Draft,
        _ step: Step,
        at revision: Int?,
        _ change: (Draft) async throws(SubmitError) -> Change?
    ) async throws(SubmitError) -> Outcome {
        let draft = try await writable(draft, step, at: revision)
        let first = try await change(draft)
        var isFirst = true
        return try await retrying(draft) { (now) throws(SubmitError) -> Outcome? in
            let isPrepared = isFirst && now.revision == draft.revision
            isFirst = false
            let now = isPrepared ? now : try await writable(now, step, at: revision)
            guard let change = isPrepared ? first : try await change(now) else {
                return Outcome(draft: try await reread(now, orThrow: SubmitError.find), cleared: [])
            }
            let written = try await converting(to: SubmitError.database) { () throws(DatabaseError) in
                try await write(change, to: now)
            }
            switch written {
            case .written(let revised):
                count(step, before: now, after: revised)
                return Outcome(draft: revised, cleared: change.cleared, recoveryCodes: change.recoveryCodes)
            case .taken(let field): throw .refused([Refusal(field, .taken)])
            case .limited(let reached): throw .limited(reached)
            case .overtaken: return nil
            }
        }
    }

    /// The draft at the revision on which the client insists, if the step can be written.
    private func writable(_ draft: Draft, _ step: Step, at revision: Int?) async throws(SubmitError) -> Draft {
        var draft = draft
        if draft.account != nil { throw .committed }
        if let revision, revision != draft.revision {
            // The client may have seen a newer one than we had read.
            draft = try await reread(draft, orThrow: SubmitError.find)
            if draft.account != nil { throw .committed }
            guard revision == draft.revision else { throw .stale(draft) }
        }
        if let obstacle = obstacle(to: step, of: draft) { throw obstacle }
        return draft
    }

    /// The draft has changed as often as it may; only its end helps.
    private func revisions(of draft: Draft) -> LimitReached {
        let left = Duration.seconds(max(1, Int(draft.expiresAt.timeIntervalSince(draft.now))))
        return reached("revisions", Limit(flow.limits.revisions, per: flow.absolute), wait: left)
    }

    private func change(
        to step: Step,
        of draft: Draft,
        by answers: Answers,
        _ completed: CompletedWork
    ) async throws(SubmitError) -> Change? {
        let (values, inputs, unmet) = validate(answers, to: step, of: draft)
        var submission = Submission(
            signups: self,
            step: step,
            draft: draft,
            inputs: inputs,
            change: Change(values: values),
            completed: completed
        )
        var refusals = unmet
        for field in step.fields { refusals += try await field.kind.prepare(field, for: &submission) }
        let isSkipped = step.isOptional && step.isBlank(answers)
        guard refusals.isEmpty || isSkipped else { throw .refused(step.sorted(refusals)) }
        submission.change.values.answered.insert(step.name)
        for field in step.fields { try await field.kind.submit(field, &submission) }
        for field in flow.fields where step.field(named: field.name) == nil {
            try await field.kind.revalidate(field, after: &submission)
        }
        let change = submission.change
        // A code given twice, as by an impatient finger, has done its work the first time.
        return submission.repeatsGuess && change.effects.isEmpty && change.values == draft.values ? nil : change
    }

    /// The values after this submission, the valid answers that are no values yet, and everything that is wrong with it.
    func validate(
        _ answers: Answers,
        to step: Step,
        of draft: Draft
    ) -> (values: Values, inputs: [FieldName: any Sendable], refusals: [Refusal]) {
        var context = validationContext(of: draft, answers: answers)
        var inputs: [FieldName: any Sendable] = [:]
        let unknown = answers.members.map(\.name).filter { step.field(named: $0) == nil }
        var refusals: [Refusal] = []
        for field in step.fields.filter({ !$0.kind.dependsOnOtherAnswers })
            + step.fields.filter(\.kind.dependsOnOtherAnswers)
        {
            let answer = answers[field.name] ?? .json(.null)
            let isBlank = field.kind.isBlank(answer)
            let isKept = field.kind.isKeptUnlessReplaced && field.kind.holds(field.name, in: context)
            // An earlier flow file may have kept something under the name of a field that keeps nothing.
            if isBlank && !isKept || field.kind.keepsNothing { context.values[field.name] = nil }
            if isBlank {
                if field.isRequired, !isKept { refusals.append(Refusal(field.name, .required)) }
                continue
            }
            do throws(Refusals) {
                try field.kind.accept(answer, of: field.name, in: &context, &inputs)
            } catch {
                refusals += error.all
            }
        }
        return (
            context.values, inputs,
            step.sorted(unknown.prefix(Refusal.maximumUnknown).map { Refusal($0, .unknownField) } + refusals)
        )
    }
}

extension FieldKind {
    /// Validates the answer, and puts it where the rest of the submission finds it.
    fileprivate func accept(
        _ answer: FieldAnswer,
        of field: FieldName,
        in context: inout ValidationContext,
        _ inputs: inout [FieldName: any Sendable]
    ) throws(Refusals) {
        let input = try parse(answer, of: field, in: context)
        if let value = value(of: input) { context.values[field] = value } else { inputs[field] = input }
    }
}

extension Step {
    /// True for no answer at all: an empty object, or a form whose controls were left empty.
    fileprivate func isBlank(_ answers: Answers) -> Bool {
        answers.members.allSatisfy { field(named: $0.name)?.kind.isBlank($0.answer) ?? false }
    }

    /// In the order of the fields, after those of no field.
    fileprivate func sorted(_ refusals: [Refusal]) -> [Refusal] {
        refusals.filter { field(named: $0.field) == nil }
            + fields.flatMap { field in refusals.filter { $0.field == field.name } }
    }
}
