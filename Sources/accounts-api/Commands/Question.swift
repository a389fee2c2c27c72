import ArgumentParser
import Foundation

/// A question before something that cannot be undone.
enum Question {
    /// Throws unless the person at the terminal agrees.
    ///
    /// - Parameter refusal: what the command says after any other answer.
    static func ask(_ question: String, orRefuse refusal: String) throws {
        guard isatty(STDIN_FILENO) == 1 else { throw ValidationError("pass --yes: this cannot be undone") }
        FileHandle.standardError.write(Data(question.utf8))
        guard ["y", "yes"].contains(readLine()?.lowercased()) else { throw Refused(description: refusal) }
    }
}
