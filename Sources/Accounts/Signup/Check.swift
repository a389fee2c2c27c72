package enum CheckError: Error {
    case locked(next: Step?)
    case committed
}

extension Signups {
    /// What a submission of these answers would be told about the fields that are among them. Stores nothing, hashes
    /// nothing, sends nothing, and spends no attempt on a code.
    package func check(_ answers: JSON, on step: Step, of draft: Draft) throws(CheckError) -> [Refusal] {
        if draft.account != nil { throw .committed }
        let standing = standing(of: draft)
        if standing.states[step.name] == .locked { throw .locked(next: standing.next) }
        return judge(answers, to: step, of: draft).refusals.filter { answers[$0.field.rawValue] != nil }
    }
}
