/// The progress of a draft, computed from the flow, the values, the proofs and the present time.
package struct SignupProgress: Sendable {
    package let states: [StepName: StepState]
    /// The steps of the flow, without those whose fields are all omitted (``FieldActs/isOmitted(_:in:)``).
    package let steps: [Step]
    /// The first step that is neither complete nor skipped; nil if only the review is left.
    package private(set) var next: Step?
    /// The required fields without a valid value, in all steps that are neither optional nor omitted.
    package private(set) var missing: [FieldName]
    package let done: Int
    package let total: Int

    /// True if every required step is complete, and no step has an invalid value. Otherwise a commit throws
    /// ``CommitError/incomplete(_:)``.
    package var isReady: Bool { missing.isEmpty && done == total && !states.values.contains(.invalid) }

    /// A copy in which `field` is also missing.
    func lacking(_ field: FieldName, in flow: Flow) -> SignupProgress {
        var progress = self
        progress.missing.append(field)
        progress.next = flow.steps.first { $0.field(named: field) != nil }
        return progress
    }

    package init(of context: ValidationContext) {
        var states: [StepName: StepState] = [:]
        var missing: [FieldName] = []
        var next: Step?
        var isOpen = true
        var done = 0
        steps = context.steps
        for step in context.flow.steps where context.omits(step) { states[step.name] = .locked }
        for step in steps {
            let progress = StepProgress(of: step, in: context)
            states[step.name] = progress.state(of: step, isOpen: isOpen, isNext: next == nil)
            if next == nil, isOpen, !progress.isSettled { next = step }
            guard !step.isOptional else { continue }
            missing += progress.missing
            if progress.isSettled { done += 1 } else { isOpen = false }
        }
        self.states = states
        self.next = next
        self.missing = missing
        self.done = done
        total = steps.count { !$0.isOptional }
    }

    /// Whether the step is ``StepState/locked``: it is omitted, or an earlier required step is incomplete. Does not
    /// compute the states of all steps.
    static func isLocked(_ step: Step, in context: ValidationContext) -> Bool {
        context.omits(step)
            || context.steps.prefix { $0.name != step.name }
                .contains { !$0.isOptional && !StepProgress(of: $0, in: context).isSettled }
    }
}

extension ValidationContext {
    fileprivate var steps: [Step] { flow.steps.filter { !omits($0) } }

    fileprivate func omits(_ step: Step) -> Bool { step.fields.allSatisfy { $0.kind.isOmitted($0, in: self) } }
}

package enum StepState: String, CaseIterable, Sendable {
    case complete, current, open, optional, locked, invalid
}

/// The state of one step, regardless of earlier steps.
private struct StepProgress {
    let missing: [FieldName]
    let hasInvalid: Bool
    /// True if the step is complete, or optional and skipped.
    let isSettled: Bool

    init(of step: Step, in context: ValidationContext) {
        let incomplete = step.fields.filter { !$0.kind.holds($0.name, in: context) }
        let isAnswered = context.values.answered.contains(step.name)
        let isEmpty =
            incomplete.count == step.fields.count && !step.fields.contains { context.values.contains($0.name) }
        missing = incomplete.filter(\.isRequired).map(\.name)
        hasInvalid = incomplete.contains { context.values.contains($0.name) }
        // A step without required fields must be submitted once. An optional step may be submitted empty.
        let isSkipped = isAnswered && isEmpty && step.isOptional
        let isFilled = missing.isEmpty && (isAnswered || step.fields.contains(where: \.isRequired))
        isSettled = !hasInvalid && (isSkipped || isFilled)
    }

    func state(of step: Step, isOpen: Bool, isNext: Bool) -> StepState {
        if !isOpen { return .locked }
        if hasInvalid { return .invalid }
        if isSettled { return .complete }
        if step.isOptional { return .optional }
        return isNext ? .current : .open
    }
}
