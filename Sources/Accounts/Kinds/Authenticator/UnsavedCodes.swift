extension Draft {
    /// The recovery codes of the step that the person has not confirmed to have saved.
    package func unsavedRecoveryCodes(at step: Step) -> [RecoveryCode] {
        step.fields.flatMap { (values[$0.name] as? Authenticator)?.unsavedCodes ?? [] }
    }
}

extension Signups {
    /// Removes the recovery codes of the step from the draft, which keeps their digests. Does nothing without such codes.
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
