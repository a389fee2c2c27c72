import Accounts
import Foundation
import Logging

/// Writes each record to standard error as one line: a JSON object, or text for a terminal. In text, the message must
/// have no line break. Metadata values that are strings are quoted, with escaped line breaks.
struct LineLogger: LogHandler {
    let isJSON: Bool
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    /// Called with each complete line, including the line break.
    var sink: @Sendable ([UInt8]) -> Void = LineLogger.standardError

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        // Drops the lines of Hummingbird about its start and stop, because the command `serve` logs both itself. At the
        // levels debug and trace, keeps them.
        if event.source == "HummingbirdCore", event.level == .info, logLevel > .debug { return }
        let own = event.metadata ?? [:]
        var fields = own.map { JSON.Member($0.key, Self.json($0.value)) }
        // Drops the id that Hummingbird adds: the records of requests have `request_id`, which clients see, too.
        for (name, value) in metadata where name != "hb.request.id" && own[name] == nil {
            fields.append(JSON.Member(name, Self.json(value)))
        }
        fields.sort { $0.name < $1.name }
        let time = Date().timestampWithMilliseconds
        var line: [UInt8] = []
        if isJSON {
            let first: [JSON.Member] = [
                .init("time", .string(time)), .init("level", .string(event.level.rawValue)),
                .init("message", .string("\(event.message)")),
            ]
            JSON.object(first + fields).write(into: &line)
        } else {
            let texts = fields.map { " \($0.name)=\($0.value.text)" }
            line += "\(time) \(event.level) \(event.message)\(texts.joined())".utf8
        }
        line.append(UInt8(ascii: "\n"))
        sink(line)
    }

    /// Writes each line with one call, so that lines of several threads do not mix. Ignores errors, because there is no
    /// other place to report them.
    static let standardError: @Sendable ([UInt8]) -> Void = { line in
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Converts `Int`, `Double` and a `UInt` up to `Int.max` to numbers, and everything else to text.
    private static func json(_ value: Logger.MetadataValue) -> JSON {
        switch value {
        case .stringConvertible(let number as Int): .integer(number)
        case .stringConvertible(let number as UInt) where number <= Int.max: .integer(Int(number))
        case .stringConvertible(let number as Double): .number(number)
        case .string(let text): .string(text)
        default: .string("\(value)")
        }
    }
}
