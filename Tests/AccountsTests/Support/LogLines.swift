import Logging
import Synchronization

/// The messages that are logged, without their metadata.
final class LogLines: Sendable {
    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.all.withLock { $0.append("\(event.message)") } }
    }

    private let all = Mutex<[String]>([])

    var messages: [String] { all.withLock { $0 } }
    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }
}
