import TestSupport
import Testing

@testable import Accounts

@Suite("The gauges of events", .freshDatabase)
struct EventCensusTests {
    @Test func `failed events are counted without reading the waiting ones`() throws {
        let session = try DatabaseSession()
        // Without this setting, PostgreSQL would not use the index, because the table is empty.
        try session.run("SET enable_seqscan = off")
        let plan = try session.query("EXPLAIN (COSTS off) \(Database.failedCount)").map { try $0.decode(String.self) }
        #expect(plan.contains { $0.hasSuffix(" deliveries_failed") || $0.contains(" deliveries_failed on ") })
    }
}
