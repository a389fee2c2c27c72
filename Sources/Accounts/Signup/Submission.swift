/// One attempt to submit a step: the valid answers, the draft that they were validated against, and the change so far.
package struct Submission {
    let signups: Signups
    let step: Step
    let draft: Draft
    /// The valid answers that are not stored as they are, by field: for example a password, of which the hash is
    /// stored, or a code. Each has the type `Input` of its kind.
    let inputs: [FieldName: any Sendable]
    var change: Change
    /// Whether the submission has a guess, such as a code. If the guess has already had its effect, and nothing else
    /// changes, nothing is written.
    var hasGuess = false
    let completed: CompletedWork
    /// Whether the draft keeps new recovery codes until the person confirms that they are saved.
    var keepsRecoveryCodes = false
}

/// The results of work that is slow or must happen only once, kept while the write of a submission is retried.
final class CompletedWork {
    private struct Key: Hashable {
        let field: FieldName
        let subject: String
    }

    private var results: [Key: any Sendable] = [:]
    /// True if the ``Effect/limits`` of the submission have been consumed before its slow work.
    var hasConsumedLimits = false

    /// Returns the result for that field; runs `work` if there is none yet. A nil result is not kept.
    func once<Result: Sendable>(
        _ field: FieldName,
        optional work: () async throws(SubmitError) -> Result?
    ) async throws(SubmitError) -> Result? {
        if let result: Result = result(field) { return result }
        let result = try await work()
        results[Key(field: field, subject: "")] = result
        return result
    }

    /// Returns the result for that field and subject; runs `work` if there is none yet. The subject tells the results
    /// of one field apart, such as the hash of a new password and the comparison with a stored one.
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

    /// Whether the work has been done.
    func contains(_ field: FieldName, _ subject: String = "") -> Bool {
        results[Key(field: field, subject: subject)] != nil
    }

    /// Returns nil if the work has not been done.
    func result<Result: Sendable>(_ field: FieldName, _ subject: String = "") -> Result? {
        guard let stored = results[Key(field: field, subject: subject)] else { return nil }
        return stored as? Result
    }
}
