import Testing

@testable import Accounts

@Suite("Turns on a draft", .timeLimit(.minutes(30)))
struct DraftTurnsTests {
    private let draft = ID<Draft>()
    private let turns = DraftTurns(waiting: 4)

    /// A task that waits for its turn on the draft, and does not end the turn.
    private func startWaiting() -> Task<Result<Bool, DraftTurns.Refusal>, Never> {
        Task { [turns, draft] in
            do throws(DraftTurns.Refusal) { return .success(try await turns.begin(draft)) } catch {
                return .failure(error)
            }
        }
    }

    private func wait(for number: Int) async {
        while turns.waiting(for: draft) != number { await Task.yield() }
    }

    @Test func `as many requests are admitted to a draft as may act on it and wait for it`() {
        for _ in 1...5 { #expect(turns.admit(draft)) }
        #expect(!turns.admit(draft))
        #expect(turns.admit(ID<Draft>()), "another draft is independent")
        turns.leave(draft)
        #expect(turns.admit(draft))
        #expect(!turns.admit(draft))
        for _ in 1...5 { turns.leave(draft) }
        #expect(turns.admit(draft))
    }

    @Test func `four requests wait for a draft, and the fifth is refused`() async throws {
        #expect(try await turns.begin(draft) == false)
        let other = ID<Draft>()
        #expect(try await turns.begin(other) == false, "the turns of another draft are independent")
        var waiters: [Task<Result<Bool, DraftTurns.Refusal>, Never>] = []
        for number in 1...4 {
            waiters.append(startWaiting())
            await wait(for: number)
        }
        #expect(await startWaiting().value == .failure(.busy))
        for waiter in waiters {
            turns.end(draft)
            #expect(await waiter.value == .success(true), "the turns are given in the order of arrival")
        }
        turns.end(draft)
        #expect(try await turns.begin(draft) == false)
    }

    @Test func `a request that is cancelled does not wait for its turn`() async throws {
        _ = try await turns.begin(draft)
        let waiter = startWaiting()
        await wait(for: 1)
        waiter.cancel()
        #expect(await waiter.value == .failure(.cancelled))
        #expect(turns.waiting(for: draft) == 0)
        let late = Task { [turns, draft] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await turns.begin(draft)
        }
        await #expect(throws: DraftTurns.Refusal.cancelled) { try await late.value }
        turns.end(draft)
        #expect(try await turns.begin(draft) == false)
    }

    @Test(arguments: [Duration.milliseconds(20), .zero])
    func `a request waits for its turn until its deadline`(time: Duration) async throws {
        _ = try await turns.begin(draft)
        await #expect(throws: DraftTurns.Refusal.busy) {
            try await Deadline.$current.withValue(Deadline(in: time)) { try await turns.begin(draft) }
        }
        #expect(turns.waiting(for: draft) == 0)
        turns.end(draft)
        #expect(try await turns.begin(draft) == false)
    }
}
