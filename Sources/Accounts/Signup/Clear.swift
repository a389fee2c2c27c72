extension Signups {
    /// Empties one step, and with it what was proved by it.
    package func clear(_ step: Step, of draft: Draft, at revision: Int? = nil) async throws(SubmitError) -> Outcome {
        try await revise(draft, step, at: revision) { (draft) throws(SubmitError) in
            var change = Change(values: draft.values)
            change.values.empty(step.name)
            for field in step.fields {
                change.values[field.name] = nil
                switch field.kind {
                case is CodeField: change.effects.append(.withdraw(field.name))
                case is ImageField: change.effects.append(.dropPhoto(field.name))
                case is UsernameField where field.isIdentifier:
                    change.effects.append(.release(kind: UsernameField.name))
                case is EmailField:
                    dropAuthenticator(&change)
                    guard let code = flow.code(proving: field.name) else { continue }
                    change.effects.append(.withdraw(code.field.name))
                    if draft.proofs[code.field.name]?.isProved == true { change.cleared.append(code.field.name) }
                default: continue
                }
            }
            return change
        }
    }
}
