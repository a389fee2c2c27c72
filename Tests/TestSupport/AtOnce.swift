/// Performs the act this many times concurrently. The results are in the order of their numbers.
package func atOnce<Value: Sendable>(_ times: Int, _ act: @escaping @Sendable (Int) async throws -> Value) async throws
    -> [Value]
{
    try await withThrowingTaskGroup(of: (Int, Value).self) { group in
        for number in 0..<times {
            group.addTask { (number, try await act(number)) }
        }
        return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
