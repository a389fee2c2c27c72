/// Repeats a request while the service refuses it for now, for at most 300 seconds. Returns the last response.
///
/// The service answers 503 with Retry-After to a request that has reached its deadline. A test that is not about
/// deadlines repeats such a request, because on a busy machine any request may reach it.
///
/// - Parameter isRefused: whether a response is such a refusal.
func untilServed<Answer>(
    _ isRefused: (Answer) -> Bool,
    _ request: () async throws -> Answer
) async throws -> Answer {
    let deadline = ContinuousClock.now + .seconds(300)
    while true {
        let answer = try await request()
        guard isRefused(answer), ContinuousClock.now < deadline else { return answer }
        try Task.checkCancellation()
        await Task.yield()
    }
}
