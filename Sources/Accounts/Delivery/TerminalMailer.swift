internal import Foundation

/// Prints mail on standard output instead of sending it, so that a developer can read the codes. For development only.
package struct TerminalMailer: Mailer {
    package var outcome: String { "printed" }

    package init() {}

    package func send(_ mail: Mail) async throws(MailError) -> String? {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(Self.framed(mail).utf8))
        } catch {
            throw .temporary(reply: nil, reason: "cannot write to standard output")
        }
        return nil
    }

    /// The mail in a frame. Leaves out control and format characters, which could move the cursor or reorder the text
    /// on the terminal.
    static func framed(_ mail: Mail) -> String {
        let rule = String(repeating: "─", count: 60)
        let header = ["From: \(mail.from)", "To: \(mail.to)", "Subject: \(mail.subject)", ""]
        let text = mail.text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { String(Substring($0)) }
        let lines = (header + text).map { line in "│ \(printable(line))\n" }
        return "\n┌\(rule)\n\(lines.joined())└\(rule)\n\n"
    }

    private static func printable(_ line: String) -> String {
        if line.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return line }
        let visible = line.unicodeScalars.filter { ![.control, .format].contains($0.properties.generalCategory) }
        return String(String.UnicodeScalarView(visible))
    }
}
