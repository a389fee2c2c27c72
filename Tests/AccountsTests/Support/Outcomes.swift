@testable import Accounts

/// An error that tests compare as one line of text.
protocol SummarizedError: Error {
    var summary: String { get }
}

/// The outcome of an act as text: `done`, or the summary of the error that it has thrown.
func outcome<Value>(of act: () async throws -> Value) async -> String {
    do {
        _ = try await act()
        return "done"
    } catch let error as any SummarizedError {
        return error.summary
    } catch {
        return "\(error)"
    }
}

extension Sequence where Element: Hashable {
    /// The number of occurrences of each element.
    var tally: [Element: Int] { reduce(into: [:]) { $0[$1, default: 0] += 1 } }
}

extension Refusal: SummarizedError {
    var summary: String {
        guard case .integer(let left)? = params["attempts_left"] else { return "\(field) \(code.rawValue)" }
        return "\(field) \(code.rawValue) (\(left) left)"
    }
}

extension [Refusal] {
    fileprivate var summary: String { "refused: " + map(\.summary).joined(separator: ", ") }
}

extension FindError: SummarizedError {
    var summary: String {
        switch self {
        case .unknown: "unknown"
        case .ended(let ending): ending.rawValue
        case .unreadable: "unreadable"
        case .database(let error): "\(error)"
        }
    }
}

extension SubmitError: SummarizedError {
    var summary: String {
        switch self {
        case .locked(let next): "locked, next is \(next?.name.rawValue ?? "the review")"
        case .refused(let refusals): refusals.summary
        case .limited(let reached): reached.summary
        case .stale(let draft): "stale, the revision is \(draft.revision)"
        case .committed: "committed"
        case .find(let error): error.summary
        case .hashing(let error): "hashing: \(error)"
        case .image(let error): "image: \(error)"
        case .unreadableAuthenticator: "unreadable authenticator"
        case .contended: "contended"
        case .database(let error): "\(error)"
        }
    }
}

extension ResendError: SummarizedError {
    var summary: String {
        switch self {
        case .locked(let next): "locked, next is \(next?.name.rawValue ?? "the review")"
        case .noCode: "no code"
        case .refused(let refusals): refusals.summary
        case .limited(let reached): reached.summary
        case .committed: "committed"
        case .stale(let draft): "stale, the revision is \(draft.revision)"
        case .find(let error): error.summary
        case .contended: "contended"
        case .database(let error): "\(error)"
        }
    }
}

extension CancelError: SummarizedError {
    var summary: String {
        switch self {
        case .committed: "committed"
        case .stale(let draft): "stale, the revision is \(draft.revision)"
        case .find(let error): error.summary
        case .database(let error): "\(error)"
        }
    }
}

extension CommitError: SummarizedError {
    var summary: String {
        switch self {
        case .incomplete(let progress): "incomplete: " + progress.missing.map(\.rawValue).joined(separator: ", ")
        case .identifierTaken(let field): "taken: \(field)"
        case .limited(let reached): reached.summary
        case .stale(let draft): "stale, the revision is \(draft.revision)"
        case .find(let error): error.summary
        case .confirmationRequired: "confirmation required"
        case .finished: "finished"
        case .contended: "contended"
        case .database(let error): "\(error)"
        }
    }
}

extension StartError: SummarizedError {
    var summary: String {
        switch self {
        case .limited(let reached): reached.summary
        case .database(let error): "\(error)"
        }
    }
}

extension CheckError: SummarizedError {
    var summary: String {
        switch self {
        case .locked(let next): "locked, next is \(next?.name.rawValue ?? "the review")"
        case .committed: "committed"
        case .limited(let reached): reached.summary
        case .hashing(let error): "hashing: \(error)"
        case .database(let error): "\(error)"
        }
    }
}

extension LimitReached: SummarizedError {
    var summary: String { "too many: \(name)" }
}

extension HandoffError: SummarizedError {
    var summary: String {
        switch self {
        case .noAddress: "no address"
        case .addressNotProved(let next): "address not proved, next is \(next?.name.rawValue ?? "the review")"
        case .limited(let reached): reached.summary
        case .stale(let draft): "stale, the revision is \(draft.revision)"
        case .committed: "committed"
        case .find(let error): error.summary
        case .contended: "contended"
        case .database(let error): "\(error)"
        }
    }
}

extension RedeemError: SummarizedError {
    var summary: String {
        switch self {
        case .invalidTicket: "invalid ticket"
        case .unreadable: "unreadable"
        case .limited(let reached): reached.summary
        case .find(let error): error.summary
        case .database(let error): "\(error)"
        }
    }
}

extension ResumeError: SummarizedError {
    var summary: String {
        switch self {
        case .invalidLink: "invalid link"
        case .limited(let reached): reached.summary
        case .contended: "contended"
        case .find(let error): error.summary
        case .database(let error): "\(error)"
        }
    }
}
