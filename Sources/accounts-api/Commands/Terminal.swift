import Accounts
import Foundation

/// Properties of standard output.
enum Terminal {
    /// Whether standard output is a terminal.
    static let isConnected = isatty(STDOUT_FILENO) == 1

    /// Whether output has colours: standard output is a terminal whose `TERM` is not `dumb`, and `NO_COLOR` is missing
    /// or empty (https://no-color.org).
    static let hasColours: Bool = {
        let environment = ProcessInfo.processInfo.environment
        return isConnected && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }()

    /// The size in columns and lines; nil if standard output is not a terminal, or if the terminal has no known size.
    static var size: (columns: Int, lines: Int)? {
        var size = winsize()
        guard isConnected, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}

/// The style of a text on a terminal with colours.
enum Paint: String {
    case plain = ""
    case bold = "1"
    case dim = "2"
    case reversed = "7"
    case red = "31"
    case green = "32"
    case yellow = "33"

    func on(_ text: String) -> String {
        self == .plain || text.isEmpty ? text : "\u{1B}[\(rawValue)m\(text)\u{1B}[0m"
    }
}

/// Writes a message to standard error.
func printError(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
}

/// Writes a warning to standard error.
func printWarning(_ message: String, asJSON: Bool) {
    printError(asJSON ? JSON.object([.init("warning", .string(message))]).text : "warning: \(message)")
}
