import Foundation
import Testing

@testable import Accounts

@Suite("Timestamps")
struct TimestampTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
        (951_782_399.999, "2000-02-28T23:59:59Z", "2000-02-28T23:59:59.999Z"),
        (951_782_400, "2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"),
        (1_772_600_707.125, "2026-03-04T05:05:07Z", "2026-03-04T05:05:07.125Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"),
    ])
    func `a time is written in UTC`(seconds: Double, text: String, precise: String) {
        let time = Date(timeIntervalSince1970: seconds)
        #expect(time.timestamp == text)
        #expect(time.timestampWithMilliseconds == precise)
    }

    @Test func `the text is that of Foundation`() {
        for _ in 1...2000 {
            let seconds = Int.random(in: -4_000_000_000...300_000_000_000)
            let time = Date(timeIntervalSince1970: Double(seconds))
            #expect(time.timestamp == time.formatted(.iso8601), "\(seconds)")
        }
    }
}
