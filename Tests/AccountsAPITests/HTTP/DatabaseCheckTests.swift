import Synchronization
import Testing

@testable import accounts_api

@Suite("The check of the database", .timeLimit(.minutes(30)))
struct DatabaseCheckTests {
    @Test func `many requests at the same time ask the database one question at a time`() async {
        let asking = Mutex(0)
        let most = Mutex(0)
        let check = DatabaseCheck {
            let now = asking.withLock { asking in
                asking += 1
                return asking
            }
            most.withLock { $0 = max($0, now) }
            for _ in 1...10 { await Task.yield() }
            asking.withLock { $0 -= 1 }
            return true
        }
        let answers = await withTaskGroup { group in
            for _ in 1...500 { group.addTask { await check.isUp() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: true, count: 500))
        #expect(most.withLock { $0 } == 1)
    }
}
