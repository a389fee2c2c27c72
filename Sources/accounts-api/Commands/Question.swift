import ArgumentParser
import Foundation

/// A question that a command asks before it does something that cannot be undone.
enum Question {
    /// Asks the person at the terminal. Throws if the answer is neither `y` nor `yes`, or if standard input is not a
    /// terminal.
    ///
    /// - Parameter refusal: the error message after any other answer.
    static func ask(_ question: String, orRefuse refusal: String) throws {
        try checkTerminal()
        FileHandle.standardError.write(Data(question.utf8))
        guard ["y", "yes"].contains(readLine()?.lowercased()) else { throw Refused(description: refusal) }
    }

    /// Throws if standard input is not a terminal, on which a person can answer.
    static func checkTerminal() throws {
        guard isatty(STDIN_FILENO) == 1 else {
            throw ValidationError("pass --yes: this command can ask only at a terminal")
        }
    }
}
