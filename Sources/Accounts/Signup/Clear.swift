extension Signups {
    /// Empties one step and withdraws what it proved.
    ///
    /// - Parameter revision: the revision that the client requires, if any.
    package func clear(_ step: Step, of draft: Draft, at revision: Int? = nil) async throws(SubmitError) -> Outcome {
        try await revise(draft, step, at: revision) { (draft) throws(SubmitError) in
            var change = Change(values: draft.values)
            change.values.empty(step.name)
            for field in step.fields {
                change.values[field.name] = nil
                field.kind.clear(field, of: draft, by: self, &change)
            }
            return change
        }
    }
}
