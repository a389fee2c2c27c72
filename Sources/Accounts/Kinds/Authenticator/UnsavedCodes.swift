extension Step {
    /// Whether the step sets up an authenticator app, which comes with recovery codes.
    package var hasRecoveryCodes: Bool { fields.contains { $0.kind is TOTPField } }
}

extension Draft {
    /// The recovery codes of the step, until the person confirms that they are saved; empty afterwards.
    package func unsavedRecoveryCodes(at step: Step) -> [RecoveryCode] {
        step.fields.flatMap { (values[$0.name] as? Authenticator)?.unsavedCodes ?? [] }
    }
}

extension Signups {
    /// Removes the recovery codes of the step from the draft after the person has saved them; their digests stay. Does
    /// nothing if there are none.
    package func forgetRecoveryCodes(at step: Step, of draft: Draft) async throws(SubmitError) -> Outcome {
        try await revise(draft, step, at: nil) { (draft) throws(SubmitError) in
            guard !draft.unsavedRecoveryCodes(at: step).isEmpty else { return nil }
            var change = Change(values: draft.values)
            for field in step.fields {
                guard var authenticator = change.values[field.name] as? Authenticator else { continue }
                authenticator.unsavedCodes = []
                change.values[field.name] = authenticator
            }
            return change
        }
    }
}
