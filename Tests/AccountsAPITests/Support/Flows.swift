import Foundation
import TestSupport

/// The built-in flow with more lines at its end.
func standardFlow(with lines: String) throws -> String {
    let file = Repository.root.appending(path: "Sources/Accounts/Flow/signup.yaml")
    return try String(contentsOf: file, encoding: .utf8) + "\n\(lines)\n"
}
