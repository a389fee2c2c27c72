import Accounts
import Logging
import Testing

@testable import accounts_api

@Suite("Lines of the log")
struct LineLoggerTests {
    @Test func `numbers are numbers, except one that is too large`() {
        let log = CapturedLog()
        log.logger.info(
            "numbers",
            metadata: [
                "int": .stringConvertible(-7), "uint": .stringConvertible(UInt(7)),
                "large": .stringConvertible(UInt.max), "double": .stringConvertible(0.5),
            ]
        )
        let line = log.lines.first
        #expect(line?["int"] == .integer(-7) && line?["uint"] == .integer(7) && line?["double"] == .number(0.5))
        #expect(line?["large"] == .string("\(UInt.max)"))
    }
}
