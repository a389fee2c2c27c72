internal import Foundation

package enum SubmitError: Error {
    /// An earlier required step is incomplete, or this draft leaves the step out (``FieldActs/isOmitted(_:in:)``).
    case locked(next: Step?)
    case refused([Refusal])
    case limited(LimitReached)
    /// The draft is not at the requested revision.
    case stale(Draft)
    case committed
    case find(FindError)
    case hashing(HashingError)
    case image(ImageError)
    /// No key of the key ring decrypts the authenticator of the account that a recovery is for.
    case unreadableAuthenticator(ID<Account>)
    /// The draft kept changing, or too many requests wait for it.
    case contended
    case database(DatabaseError)
}

/// The draft after an act, and the fields that lost their value or proof because of the act (``Change/cleared``).
package struct Outcome: Sendable {
    package let draft: Draft
    package let cleared: [FieldName]
    /// The new recovery codes, for example of an authenticator that the act has set up; empty if there are none.
    package var recoveryCodes: [RecoveryCode] = []
}

extension Signups {
    /// Replaces the answers of one step. If one answer is invalid, the draft does not change.
    ///
    /// Two requests that submit different steps at the same time both succeed, unless the client requires a revision: a
    /// request that finds the draft changed validates its answers again. Even then, a password is hashed only once, and
    /// an attempt on a code is counted only once.
    ///
    /// - Parameters:
    ///   - revision: the revision that the client requires, if any.
    ///   - keepsRecoveryCodes: whether the draft keeps new recovery codes, for a page that shows them until the person
    ///     confirms that they are saved.
    package func submit(
        _ answers: Answers,
        to step: Step,
        of draft: Draft,
        at revision: Int? = nil,
        keepingRecoveryCodes keepsRecoveryCodes: Bool = false
    ) async throws(SubmitError) -> Outcome {
        let completed = CompletedWork()
        do throws(SubmitError) {
            return try await revise(draft, step, at: revision) { (draft) throws(SubmitError) in
                try await self.change(to: step, of: draft, by: answers, completed, keepsRecoveryCodes)
            }
        } catch {
            if case .refused(let refusals) = error { funnel.refused(refusals, at: step.name, of: flow) }
            throw error
        }
    }

    /// Adds a write to the statistics of completed steps (``Funnel``). The step counts as answered only the first time.
    private func count(_ step: Step, before: Draft, after: Draft) {
        let isFromOtherFlow = before.flow != flow.id
        let isFirst = after.values.answered.contains(step.name) && !before.values.hasSeen(step.name)
        guard isFirst else {
            // A draft from another version of the flow counts as having entered its current step.
            if isFromOtherFlow { funnel.entered(after.step, of: flow) }
            return
        }
        // A step may be answered although it was not the current one; it counts as entered now.
        if isFromOtherFlow || before.step != step.name.rawValue { funnel.entered(step.name.rawValue, of: flow) }
        let isSkipped = step.isOptional && step.fields.allSatisfy { !after.values.contains($0.name) }
        let time = after.updatedAt.timeIntervalSince(before.updatedAt)
        funnel.answered(step.name.rawValue, of: flow, isSkipped: isSkipped, after: time)
        if after.step != before.step, !after.values.hasSeen(StepName(after.step)) {
            funnel.entered(after.step, of: flow)
        }
    }

    /// Returns the reason why the answers of the step cannot be written to the draft; nil if they can.
    /// ``revise(_:_:at:_:)`` checks this again.
    package func obstacle(to step: Step, of draft: Draft) -> SubmitError? {
        if draft.account != nil { return .committed }
        if SignupProgress.isLocked(step, in: validationContext(of: draft)) {
            return .locked(next: progress(of: draft).next)
        }
        // A draft begins at revision 1.
        return draft.revision > flow.limits.revisions ? .limited(reachedRevisions(of: draft)) : nil
    }

    /// Calls `change` and writes its result. If another request has changed the draft meanwhile, repeats both with the
    /// new revision, or throws `stale` if the client requires the old one. If `change` returns nil, writes nothing.
    ///
    /// Calls `change` for the first time before the request waits for its turn on the draft (``DraftTurns``), because
    /// the call may take long, for example to hash a password or to decode an image. Throws `contended` before that
    /// call if too many other requests act on the draft or wait for it.
    ///
    /// - Parameter revision: the revision that the client requires, if any.
    func revise(
        _ draft: Draft,
        _ step: Step,
        at revision: Int?,
        _ change: (Draft) async throws(SubmitError) -> Change?
    ) async throws(SubmitError) -> Outcome {
        let draft = try await writable(draft, step, at: revision)
        guard turns.admit(draft.id) else { throw .contended }
        defer { turns.leave(draft.id) }
        let first = try await change(draft)
        var isFirst = true
        return try await retryingInTurn(draft) { (now) throws(SubmitError) -> Outcome? in
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
            case .taken(let lease):
                let isFree = try await converting(to: SubmitError.database) { () throws(DatabaseError) in
                    try await endLostDraft(holding: lease, for: now)
                }
                if !isFree { throw .refused([Refusal(lease.field, .taken)]) }
                return nil
            case .limited(let reached): throw .limited(reached)
            case .overtaken: return nil
            }
        }
    }

    /// Returns the draft; reads it again if the client requires another revision. Throws if the draft is not at that
    /// revision even then, or if the step cannot be written.
    private func writable(_ draft: Draft, _ step: Step, at revision: Int?) async throws(SubmitError) -> Draft {
        var draft = draft
        if draft.account != nil { throw .committed }
        if let revision, revision != draft.revision {
            // The client may have seen a newer revision than the one that was read.
            draft = try await reread(draft, orThrow: SubmitError.find)
            if draft.account != nil { throw .committed }
            guard revision == draft.revision else { throw .stale(draft) }
        }
        if let obstacle = obstacle(to: step, of: draft) { throw obstacle }
        return draft
    }

    /// Returns the limit for a draft that has reached its maximum number of revisions. Waiting does not help, so the
    /// wait that is reported lasts until the draft expires.
    private func reachedRevisions(of draft: Draft) -> LimitReached {
        let left = Duration.seconds(max(1, Int(draft.expiresAt.timeIntervalSince(draft.now))))
        return reached(.revisions, Limit(flow.limits.revisions, per: flow.expiry.absolute), wait: left)
    }

    private func change(
        to step: Step,
        of draft: Draft,
        by answers: Answers,
        _ completed: CompletedWork,
        _ keepsRecoveryCodes: Bool
    ) async throws(SubmitError) -> Change? {
        let (values, inputs, unmet) = validate(answers, to: step, of: draft)
        var submission = Submission(
            signups: self,
            step: step,
            draft: draft,
            inputs: inputs,
            change: Change(values: values),
            completed: completed,
            keepsRecoveryCodes: keepsRecoveryCodes
        )
        let isSkipped = step.isOptional && step.isBlank(answers)
        guard unmet.isEmpty || isSkipped else { throw .refused(step.sorted(unmet)) }
        let found = try await lookUp(inputs, of: step, completed)
        guard found.isEmpty else { throw .refused(step.sorted(found)) }
        submission.change.values.answered.insert(step.name)
        for field in step.fields { try await field.kind.submit(field, &submission) }
        try await consumeLimits(for: &submission)
        // Files first: only the work on a file may end in a refusal, and a refused step should not hash a password.
        for field in flow.fields.filter(\.kind.takesFile) + flow.fields.filter({ !$0.kind.takesFile }) {
            let refusals = try await field.kind.work(field, &submission)
            guard refusals.isEmpty else { throw .refused(step.sorted(refusals)) }
        }
        let change = submission.change
        // A code that is submitted twice, for example by a double click, has had its effect already.
        return submission.hasGuess && change.effects.isEmpty && change.values == draft.values ? nil : change
    }

    /// Returns the refusals that need a read from disk, such as that of a breached password. Reads only once for each
    /// submission, even if the write is retried.
    private func lookUp(
        _ inputs: [FieldName: any Sendable],
        of step: Step,
        _ completed: CompletedWork
    ) async throws(SubmitError) -> [Refusal] {
        var refusals: [Refusal] = []
        for field in step.fields where inputs[field.name] != nil {
            refusals += try await completed.once(field.name, "lookup") { () throws(SubmitError) -> [Refusal] in
                do throws(HashingError) {
                    return try await field.kind.lookUp(inputs, of: field, by: self)
                } catch { throw .hashing(error) }
            }
        }
        return refusals
    }

    /// If the submission needs slow work, consumes the rate limits of this work and, once, ``Effect/limits``. Throws
    /// before the work begins if a rate limit or a taken name would prevent the write, so that refused requests cost
    /// little.
    private func consumeLimits(for submission: inout Submission) async throws(SubmitError) {
        let (change, completed) = (submission.change, submission.completed)
        var charges: [Charge] = []
        for field in flow.fields { charges += try field.kind.workCharges(field, for: submission) }
        if !charges.isEmpty {
            let limits = completed.hasConsumedLimits ? [] : change.effects.flatMap(\.limits)
            completed.hasConsumedLimits = true
            try await consume(
                limits,
                peek: change.effects.flatMap(\.laterLimits),
                charges,
                change.leases,
                submission.draft
            )
        }
        guard completed.hasConsumedLimits else { return }
        for index in change.effects.indices { submission.change.effects[index].limits = [] }
    }

    /// - Parameter laterLimits: the limits that the write itself consumes. They are only checked here.
    private func consume(
        _ limits: [Charge],
        peek laterLimits: [Charge],
        _ charges: [Charge],
        _ leases: [LeaseRequest],
        _ draft: Draft
    ) async throws(SubmitError) {
        let isNameFree = leases.reduce("true") { "\($0) AND NOT \(isRefused($1.name, $1.kind, to: draft))" as SQL }
        let isAllowed: SQL = "\(Self.isWithinLimits) AND \(Self.flag("free"))"
        let statements = [
            consume(limits), "SELECT \(Self.setFlag("free", isNameFree))", peek(laterLimits, when: isAllowed),
            consume(charges, when: isAllowed),
        ]
        let (reached, isFree) = try await converting(to: SubmitError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(statements)
            var reached: LimitReached?
            for (charges, rows) in [(limits, rows[0]), (laterLimits, rows[2]), (charges, rows[3])] {
                if reached == nil { reached = try exceeded(charges, rows) }
            }
            return (reached, try rows[1].only.decode(String.self) == "true")
        }
        if let reached { throw .limited(reached) }
        if !isFree, let lease = leases.first { throw .refused([Refusal(lease.field, .taken)]) }
    }

    /// Returns the values after this submission, the valid answers that are not values yet, and the refusals; of
    /// unknown fields only the first ones (``Refusal/maximumUnknownFields``).
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
            // An earlier flow file may have stored a value under the name of a field that stores nothing.
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
            step.sorted(unknown.prefix(Refusal.maximumUnknownFields).map { Refusal($0, .unknownField) } + refusals)
        )
    }
}

extension FieldKind {
    /// Validates the answer, and adds it to the values or to the inputs.
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
    /// True if nothing is answered: an empty object, or only blank answers, such as those of empty controls in a form.
    func isBlank(_ answers: Answers) -> Bool {
        answers.members.allSatisfy { field(named: $0.name)?.kind.isBlank($0.answer) ?? false }
    }

    /// Returns the refusals of unknown fields, and then the others in the order of the fields.
    fileprivate func sorted(_ refusals: [Refusal]) -> [Refusal] {
        refusals.filter { field(named: $0.field) == nil }
            + fields.flatMap { field in refusals.filter { $0.field == field.name } }
    }
}
