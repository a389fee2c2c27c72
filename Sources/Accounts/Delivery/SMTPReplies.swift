internal import Foundation

/// The replies of a mail server in one delivery or connection attempt (RFC 5321 §4.2): for each reply code, the lines
/// of the last reply that had the code.
struct SMTPReplies {
    private var lines: [Int: [String]] = [:]
    private var isContinued = false

    /// Adds one line as the server sent it. If more lines of the reply follow, a hyphen follows the code. Only the
    /// first 20 lines of a reply, and 1,000 bytes of each, are kept.
    mutating func add(_ line: some Collection<UInt8>) {
        guard let code = Int(String(decoding: line.prefix(3), as: UTF8.self)), (200...599).contains(code) else {
            return
        }
        if !isContinued { lines[code] = [] }
        isContinued = line.dropFirst(3).first == UInt8(ascii: "-")
        if lines[code, default: []].count < 20 {
            lines[code, default: []].append(String(decoding: line.dropFirst(4).prefix(1000), as: UTF8.self))
        }
    }

    /// Whether the server has sent a reply with that code.
    func contains(_ code: Int) -> Bool { lines[code] != nil }

    /// The text of the last reply with that code; nil if the server sent no such reply, or the text is empty. It begins
    /// with the enhanced status code (RFC 3463), such as 4.7.1, if the server sent one, and has at most 200 characters
    /// in one line.
    ///
    /// Servers quote the address that they refuse, so `<address>` replaces every e-mail address. It also replaces the
    /// recipient's domain, and the local part with or without its `+tag`, where no ASCII letter or digit is directly
    /// before or after them.
    ///
    /// - Parameter recipient: the address of the recipient; nil for a connection without a mail.
    func text(of code: Int, to recipient: String?) -> String? {
        var lines = lines[code] ?? []
        let status = lines.first?.prefixMatch(of: /[245]\.[0-9]{1,3}\.[0-9]{1,3}(?=\s|$)/).map { String($0.0) } ?? ""
        // Servers repeat the status in each line.
        lines = lines.map { line in
            let rest = line.dropFirst(status.count)
            return line.hasPrefix(status) && (rest.isEmpty || rest.first?.isWhitespace == true) ? String(rest) : line
        }
        let text = lines.joined(separator: " ").inOneLine.withoutAddresses(of: recipient)
        let all = [status, text].filter { !$0.isEmpty }.joined(separator: " ")
        if all.isEmpty { return nil }
        return all.unicodeScalars.count > 200 ? "\(String(all.unicodeScalars.prefix(199)))…" : all
    }
}

extension String {
    /// The printable words of the text, with one space between them.
    fileprivate var inOneLine: String {
        let scalars = unicodeScalars.map { $0.isAllowedInLine && $0.properties.generalCategory != .format ? $0 : " " }
        return String(UnicodeScalarView(scalars)).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    fileprivate func withoutAddresses(of recipient: String?) -> String {
        // NUL stands for a removed address until the last statement, because the text cannot contain NUL. `<address>`
        // cannot stand for it earlier, because `address` may itself be a local part that is removed.
        let mark = "\0"
        var text = replacing(/<?[^\s<>()\[\]"',:;@]+@[^\s<>()\[\]"',:;@]+>?/, with: mark)
        var parts = recipient?.split(separator: "@") ?? []
        // Also the local part without its `+tag`, because a server may quote only that.
        if let local = parts.first { parts.append(local.prefix { $0 != "+" }) }
        for part in parts where !part.isEmpty {
            text = text.replacingOccurrences(
                of: "(?<![A-Za-z0-9])\(NSRegularExpression.escapedPattern(for: String(part)))(?![A-Za-z0-9])",
                with: mark,
                options: [.regularExpression, .caseInsensitive]
            )
        }
        return text.replacing("<\(mark)>", with: mark).replacing(mark, with: "<address>")
    }
}
