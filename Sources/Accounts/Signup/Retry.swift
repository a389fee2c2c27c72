internal import Synchronization

/// An error of an act that is retried when another request has changed the draft.
package protocol RetriedActError: Error {
    static func find(_ error: FindError) -> Self
    /// The draft kept changing, too many requests wait for it, or the deadline of the request passed before its turn.
    static var contended: Self { get }
}

extension SubmitError: RetriedActError {}
extension CommitError: RetriedActError {}
extension ResendError: RetriedActError {}
extension HandoffError: RetriedActError {}

extension Signups {
    /// The maximum number of attempts for a draft that other requests keep changing.
    static let maximumWriteAttempts = 8

    /// Waits until the request may act on the draft (``DraftTurns``), and then calls ``retrying(_:_:)``. In addition to
    /// the errors of that function, throws `contended` if too many requests wait already, or if the deadline of the
    /// request passes before its turn.
    ///
    /// Within this process, these acts on one draft run one after another, so each of several parallel requests costs
    /// one read and one write. Other servers can still change the draft meanwhile. So can acts that take no turn, such
    /// as a cancel or the opening of a link on another device.
    func retryingInTurn<Result, Failure: RetriedActError>(
        _ draft: Draft,
        _ act: (Draft) async throws(Failure) -> Result?
    ) async throws(Failure) -> Result {
        let hasWaited: Bool
        do throws(DraftTurns.Refusal) {
            hasWaited = try await turns.begin(draft.id)
        } catch {
            switch error {
            case .busy: throw .contended
            case .cancelled: throw .find(.database(.cancelled))
            }
        }
        defer { turns.end(draft.id) }
        var draft = draft
        if hasWaited { draft = try await reread(draft, orThrow: Failure.find) }
        return try await retrying(draft, act)
    }

    /// Runs an act until it returns a result. If the act returns nil, the draft has changed, and is read again before
    /// the next attempt. Throws `contended` after ``maximumWriteAttempts`` attempts.
    func retrying<Result, Failure: RetriedActError>(
        _ draft: Draft,
        _ act: (Draft) async throws(Failure) -> Result?
    ) async throws(Failure) -> Result {
        var draft = draft
        for attempt in 1...Self.maximumWriteAttempts {
            if let result = try await act(draft) { return result }
            if attempt == Self.maximumWriteAttempts { break }
            // A random delay keeps servers from changing the draft at the same time again.
            if attempt > 1 { try? await Task.sleep(for: .milliseconds(Int.random(in: 1...(4 << attempt)))) }
            draft = try await reread(draft, orThrow: Failure.find)
        }
        throw .contended
    }

    /// Returns the current state of the draft.
    func reread<Failure: Error>(
        _ draft: Draft,
        orThrow failure: (FindError) -> Failure
    ) async throws(Failure) -> Draft {
        do throws(FindError) { return try await reread(draft) } catch { throw failure(error) }
    }
}

/// Converts the error of a database operation.
func converting<Result, Failure: Error>(
    to failure: (DatabaseError) -> Failure,
    _ work: () async throws(DatabaseError) -> Result
) async throws(Failure) -> Result {
    do throws(DatabaseError) { return try await work() } catch { throw failure(error) }
}
