import Accounts
import ArgumentParser

/// The reason why a command failed, and its exit code.
struct CommandFailure {
    enum Code: String {
        case notFound = "not-found"
        case refused
        case usage
        case settings
        case unavailable
        case failed
    }

    let code: Code
    let message: String
    let exit: Int32
    /// The text that is printed without `--json`. For a usage error, it also shows the usage of the command, or names
    /// the help that shows it.
    let text: String

    /// - Parameters:
    ///   - root: the type of the program or of the command, from which ArgumentParser takes the usage.
    ///   - path: the words with which the command is called, such as `accounts-api drafts list`. The text of a usage
    ///     error names the help of this command; if `path` is nil, for example because the arguments could not be
    ///     parsed, the text shows the usage.
    init(_ error: any Error, of root: any ParsableArguments.Type, in path: String? = nil) {
        if root.exitCode(for: error) == .validationFailure {
            (code, message, exit) = (.usage, root.message(for: error), 2)
            text =
                path.map { "Error: \(root.message(for: error))\nSee '\($0) --help' for more information." }
                ?? root.fullMessage(for: error)
            return
        }
        message = "\(error)"
        text = message
        code =
            switch error {
            case is NotFound: .notFound
            case is Refused: .refused
            case is SettingMistakes: .settings
            case DatabaseError.unavailable, DatabaseError.outcomeUnknown: .unavailable
            default: .failed
            }
        exit =
            switch code {
            // 69 and 75 are EX_UNAVAILABLE and EX_TEMPFAIL of sysexits.h.
            case .usage: 2
            case .settings: (error as? SettingMistakes)?.areTemporary == true ? 75 : 2
            case .unavailable: 69
            case .notFound, .refused, .failed: 1
            }
    }

    var json: JSON {
        [
            "error": [
                "code": .string(code.rawValue), "message": .string(message), "exit": .integer(Int(exit)),
            ]
        ]
    }
}
