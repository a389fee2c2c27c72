import Foundation

/// Where the answers of commands go.
enum Terminal {
    static let isThere = isatty(STDOUT_FILENO) == 1

    /// Colours are for eyes that want them (https://no-color.org).
    static let hasColours: Bool = {
        let environment = ProcessInfo.processInfo.environment
        return isThere && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }()

    /// Columns and lines; nil where the output goes elsewhere.
    static var size: (columns: Int, lines: Int)? {
        var size = winsize()
        guard isThere, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}

/// How a word is shown on a terminal that has colours.
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

/// Says on standard error what went wrong.
func complain(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
}
