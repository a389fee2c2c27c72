package enum CheckError: Error {
    case locked(next: Step?)
    case committed
    case limited(LimitReached)
    case hashing(HashingError)
    case database(DatabaseError)
}

/// The result of a check.
package struct Verdict: Sendable {
    package let refusals: [Refusal]
    /// The valid values as people write them, such as a phone number in its usual form. Omits values that were
    /// typed in this form.
    package let written: [(field: FieldName, text: String)]
}

extension Signups {
    /// Returns the refusals of the answered fields, and the usual form of their valid values. Returns neither if a
    /// submission of these answers would skip an optional step. Does not change the draft, compute an Argon2 hash,
    /// decode an image, send mail, or compare a code. So a submission may be refused although the check has found
    /// nothing.
    ///
    /// Also refuses a public name, such as a username, that is taken. Each check of a name that the draft does not have
    /// yet counts against a rate limit. Never reports whether an address is taken.
    package func check(_ answers: Answers, on step: Step, of draft: Draft) async throws(CheckError) -> Verdict {
        if draft.account != nil { throw .committed }
        let progress = progress(of: draft)
        if progress.states[step.name] == .locked { throw .locked(next: progress.next) }
        if step.isOptional, step.isBlank(answers) { return Verdict(refusals: [], written: []) }
        let (values, inputs, allRefusals) = validate(answers, to: step, of: draft)
        var refusals = allRefusals.filter { answers[$0.field] != nil }
        var written: [(field: FieldName, text: String)] = []
        for field in step.fields where answers[field.name] != nil {
            if refusals.contains(where: { $0.field == field.name }) { continue }
            var newRefusals = try await field.kind.check(values, of: field, draft, by: self)
            do throws(HashingError) {
                newRefusals += try await field.kind.lookUp(inputs, of: field, by: self)
            } catch { throw .hashing(error) }
            refusals += newRefusals
            if newRefusals.isEmpty, let text = field.kind.written(in: values, of: field.name),
                text != answers[field.name]?.json?.string
            {
                written.append((field.name, text))
            }
        }
        return Verdict(refusals: refusals, written: written)
    }
}
