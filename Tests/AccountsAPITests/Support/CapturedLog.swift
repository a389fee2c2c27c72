import Accounts
import Logging
import Synchronization

@testable import accounts_api

/// The lines that the service logs, in the format of the log.
final class CapturedLog: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
    var lines: [JSON] { text.split(separator: "\n").map { (try? JSON.read(Array($0.utf8))) ?? .null } }

    var logger: Logger {
        Logger(label: "test") { _ in
            LineLogger(isJSON: true, logLevel: .trace, sink: { line in self.bytes.withLock { $0 += line } })
        }
    }
}
