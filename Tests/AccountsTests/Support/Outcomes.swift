@testable import Accounts

/// An error of an act as a test reads it: in one line, without its baggage.
protocol ToldInWords: Error {
    var inWords: String { get }
}

/// How an act ends: `done`, or its error in words.
func outcome<Value>(of act: () async throws -> Value) async -> String {
    do {
        _ = try await act()
        return "done"
    } catch let error as any ToldInWords {
        return error.inWords
    } catch {
        return "\(error)"
    }
}

/// Does it so many times at once; the results are in the order of their numbers.
func atOnce<Value: Sendable>(_ times: Int, _ act: @escaping @Sendable (Int) async throws -> Value) async throws
    -> [Value]
{
    try await withThrowingTaskGroup(of: (Int, Value).self) { group in
        for number in 0..<times {
            group.addTask { (number, try await act(number)) }
        }
        return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

extension Sequence where Element: Hashable {
    /// How often each element occurs.
    var tally: [Element: Int] { reduce(into: [:]) { $0[$1, default: 0] += 1 } }
}

extension Refusal: ToldInWords {
    var inWords: String {
        guard case .integer(let left)? = params["attempts_left"] else { return "\(field) \(code.rawValue)" }
        return "\(field) \(code.rawValue) (\(left) left)"
    }
}

extension [Refusal] {
    fileprivate var inWords: String { "refused: " + map(\.inWords).joined(separator: ", ") }
}

extension FindError: ToldInWords {
    var inWords: String {
        switch self {
        case .unknown: "unknown"
        case .ended(let ending): ending.rawValue
        case .unreadable: "unreadable"
        case .database(let error): "\(error)"
        }
    }
}

extension SubmitError: ToldInWords {
    var inWords: String {
        switch self {
        case .locked(let next): "locked, next is \(next?.name.rawValue ?? "the review")"
        case .refused(let refusals): refusals.inWords
        case .limited(let reached): reached.inWords
        case .stale(let draft): "stale, it is at \(draft.revision)"
        case .committed: "committed"
        case .find(let error): error.inWords
        case .hashing(let error): "hashing: \(error)"
        case .image(let error): "image: \(error)"
        case .contended: "contended"
        case .database(let error): "\(error)"
        }
    }
}

extension ResendError: ToldInWords {
    var inWords: String {
        switch self {
        case .locked(let next): "locked, next is \(next?.name.rawValue ?? "the review")"
        case .noCode: "no code"
        case .refused(let refusals): refusals.inWords
        case .limited(let reached): reached.inWords
        case .committed: "committed"
        case .stale(let draft): "stale, it is at \(draft.revision)"
        case .find(let error): error.inWords
        case .contended: "contended"
        case .database(let error): "\(error)"
        }
    }
}

extension CancelError: ToldInWords {
    var inWords: String {
        switch self {
        case .committed: "committed"
        case .stale(let draft): "stale, it is at \(draft.revision)"
        case .find(let error): error.inWords
        case .database(let error): "\(error)"
        }
    }
}

extension CommitError: ToldInWords {
    var inWords: String {
        switch self {
        case .incomplete(let progress): "incomplete: " + progress.missing.map(\.rawValue).joined(separator: ", ")
        case .identifierTaken(let field): "taken: \(field)"
        case .limited(let reached): reached.inWords
        case .stale(let draft): "stale, it is at \(draft.revision)"
        case .find(let error): error.inWords
        case .contended: "contended"
        case .database(let error): "\(error)"
        }
    }
}

extension StartError: ToldInWords {
    var inWords: String {
        switch self {
        case .limited(let reached): reached.inWords
        case .database(let error): "\(error)"
        }
    }
}

extension CheckError: ToldInWords {
    var inWords: String {
        switch self {
        case .locked(let next): "locked, next is \(next?.name.rawValue ?? "the review")"
        case .committed: "committed"
        case .limited(let reached): reached.inWords
        case .database(let error): "\(error)"
        }
    }
}

extension LimitReached: ToldInWords {
    var inWords: String { "too many: \(name)" }
}

extension HandoffError: ToldInWords {
    var inWords: String {
        switch self {
        case .noAddress: "no address"
        case .locked(let next): "locked, next is \(next?.name.rawValue ?? "the review")"
        case .limited(let reached): reached.inWords
        case .stale(let draft): "stale, it is at \(draft.revision)"
        case .committed: "committed"
        case .find(let error): error.inWords
        case .contended: "contended"
        case .database(let error): "\(error)"
        }
    }
}

extension ResumeError: ToldInWords {
    var inWords: String {
        switch self {
        case .expired: "expired"
        case .limited(let reached): reached.inWords
        case .find(let error): error.inWords
        case .database(let error): "\(error)"
        }
    }
}
