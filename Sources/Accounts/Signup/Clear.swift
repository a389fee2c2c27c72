extension Signups {
    /// Removes the answers of one step, and undoes what depends on them: proofs, mailed codes, leases and photos.
    ///
    /// - Parameter revision: the revision that the client requires, if any.
    package func clear(_ step: Step, of draft: Draft, at revision: Int? = nil) async throws(SubmitError) -> Outcome {
        try await revise(draft, step, at: revision) { (draft) throws(SubmitError) in
            var change = Change(values: draft.values)
            change.values.markEmptied(step.name)
            for field in step.fields {
                change.values[field.name] = nil
                field.kind.clear(field, of: draft, by: self, &change)
            }
            return change
        }
    }
}
