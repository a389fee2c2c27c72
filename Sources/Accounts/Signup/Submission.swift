/// One attempt to submit a step: the valid answers, the draft that they were validated against, and the change so far.
package struct Submission {
    let signups: Signups
    let step: Step
    let draft: Draft
    /// The valid answers that are no values yet, by field: each is of its kind's type `Input`.
    let inputs: [FieldName: any Sendable]
    var change: Change
    /// True once a guess was given that has had its effect already. A submission of nothing else changes nothing.
    var repeatsGuess = false
    let completed: CompletedWork
}

/// The results of work that is slow, or must happen only once, kept while the write of a submission is retried.
final class CompletedWork {
    private struct Key: Hashable {
        let field: FieldName
        let subject: String
    }

    private var results: [Key: any Sendable] = [:]

    /// The result for that field and subject; `work` runs if there is none yet. Nil is no result, so it is not kept.
    func once<Result: Sendable>(
        _ field: FieldName,
        ifAny work: () async throws(SubmitError) -> Result?
    ) async throws(SubmitError) -> Result? {
        if let result: Result = result(field) { return result }
        let result = try await work()
        results[Key(field: field, subject: "")] = result
        return result
    }

    /// The result for that field and subject; `work` runs if there is none yet.
    func once<Result: Sendable>(
        _ field: FieldName,
        _ subject: String = "",
        _ work: () async throws(SubmitError) -> Result
    ) async throws(SubmitError) -> Result {
        if let result: Result = result(field, subject) { return result }
        let result = try await work()
        results[Key(field: field, subject: subject)] = result
        return result
    }

    /// Nil where the work has not been done.
    func result<Result: Sendable>(_ field: FieldName, _ subject: String = "") -> Result? {
        guard let stored = results[Key(field: field, subject: subject)] else { return nil }
        return stored as? Result
    }
}
