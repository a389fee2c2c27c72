package enum CheckError: Error {
    case locked(next: Step?)
    case committed
    case limited(LimitReached)
    case database(DatabaseError)
}

/// What a submission would be told.
package struct Verdict: Sendable {
    package let refusals: [Refusal]
    /// The valid values as people write them, where that is another form than the canonical one.
    package let written: [(field: FieldName, text: String)]
}

extension Signups {
    /// What a submission of these answers would be told about the fields that are among them. Stores nothing, hashes
    /// nothing, sends nothing, and spends no attempt on a code.
    ///
    /// It says of a public name whether it is taken, within a limit; of an address it never does.
    package func check(_ answers: Answers, on step: Step, of draft: Draft) async throws(CheckError) -> Verdict {
        if draft.account != nil { throw .committed }
        let progress = progress(of: draft)
        if progress.states[step.name] == .locked { throw .locked(next: progress.next) }
        let (values, _, all) = validate(answers, to: step, of: draft)
        var refusals = all.filter { answers[$0.field] != nil }
        var written: [(field: FieldName, text: String)] = []
        for field in step.fields where answers[field.name] != nil {
            if refusals.contains(where: { $0.field == field.name }) { continue }
            let more = try await field.kind.check(values, of: field, draft, by: self)
            refusals += more
            if more.isEmpty, let text = field.kind.written(in: values, of: field.name) {
                written.append((field.name, text))
            }
        }
        return Verdict(refusals: refusals, written: written)
    }
}
