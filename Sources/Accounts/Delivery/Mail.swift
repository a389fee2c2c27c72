package import Foundation

/// Delivers a mail, or says why not.
package protocol Mailer: Sendable {
    /// Returns once the mail is handed over.
    func send(_ mail: Mail) async throws(MailError)
}

/// Why a mail was not delivered. Its description names neither the address nor the text.
package enum MailError: Error, Hashable, CustomStringConvertible {
    /// Worth another try later: the network, the server or our login failed, or the server said so (4xx).
    /// `reply` is the SMTP reply code where there was one (RFC 5321 §4.2).
    case temporary(reply: Int?, reason: String)
    /// Never going to be delivered: the server refused this mail for good (5xx), or it was no mail to begin with.
    case permanent(reply: Int?, reason: String)

    package var description: String {
        switch self {
        case .temporary(let reply?, let reason): "not delivered yet: \(reason), reply \(reply)"
        case .temporary(nil, let reason): "not delivered yet: \(reason)"
        case .permanent(let reply?, let reason): "not deliverable: \(reason), reply \(reply)"
        case .permanent(nil, let reason): "not deliverable: \(reason)"
        }
    }
}

/// A plain text mail to one person, whose headers nothing can be smuggled into.
package struct Mail: Sendable {
    /// The sender's address, and the name shown beside it.
    package let from: String
    package let fromName: String?
    package let to: String
    package let subject: String
    /// Lines may end in any way.
    package let text: String
    /// A UUID that stays the same when the mail is sent again, so that a mailbox can tell a repetition.
    package let id: String
    package let date: Date

    /// Throws `permanent` where an address is none, the id is no UUID or a header would hold a control character.
    package init(
        from: String,
        fromName: String? = nil,
        to: String,
        subject: String,
        text: String,
        id: String,
        date: Date
    ) throws(MailError) {
        guard Self.isAddress(from) else { throw .permanent(reply: nil, reason: "the sender is no address") }
        guard Self.isAddress(to) else { throw .permanent(reply: nil, reason: "the recipient is no address") }
        guard Self.isOneLine(subject), Self.isOneLine(fromName ?? "") else {
            throw .permanent(reply: nil, reason: "a header with control characters")
        }
        guard UUID(uuidString: id) != nil else { throw .permanent(reply: nil, reason: "the id is no UUID") }
        self.from = from
        self.fromName = fromName
        self.to = to
        self.subject = subject
        self.text = text
        self.id = id
        self.date = date
    }

    /// Dot-atom characters around one `@`, so that it can neither leave its brackets nor end its line.
    package static func isAddress(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        let specials = Set("<>()[],;:\\\"".utf8)
        return parts.count == 2 && text.utf8.count <= 254
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { (0x21...0x7E).contains($0) && !specials.contains($0) }
            }
    }

    private static func isOneLine(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            ![.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
    }
}

extension Mail {
    /// The whole message as it goes over the wire (RFC 5322, MIME in RFC 2045), lines ended by CRLF.
    var message: String {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let body = lines.joined(separator: "\r\n") + "\r\n"
        let isPlain = lines.allSatisfy { $0.utf8.count <= 78 && Self.isPrintableASCII($0) }
        return [
            "From: \(sender)<\(from)>",
            "To: <\(to)>",
            "Subject: \(Self.unstructured(subject))",
            "Date: \(Self.timestamp(date))",
            "Message-ID: <\(id)@\(from.drop { $0 != "@" }.dropFirst())>",
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: \(isPlain ? "7bit" : "base64")",
            "",
            isPlain ? body : Data(body.utf8).base64EncodedString(options: .mailLines) + "\r\n",
        ].joined(separator: "\r\n")
    }

    /// The shown name, quoted where it is ASCII.
    private var sender: String {
        guard let fromName, !fromName.isEmpty else { return "" }
        let words = Self.unstructured(fromName)
        guard words == fromName else { return "\(words)\r\n " }
        let escaped = fromName.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\" "
    }

    /// A header's text as it is where that is short and ASCII, otherwise as encoded words (RFC 2047): 39 bytes each, so that
    /// a line stays within 76 characters, and never half a character.
    private static func unstructured(_ text: String) -> String {
        guard text.utf8.count > 66 || text.contains("=?") || !isPrintableASCII(text) else { return text }
        var words = [""]
        for scalar in text.unicodeScalars {
            if words[words.count - 1].utf8.count + UTF8.width(scalar) > 39 { words.append("") }
            words[words.count - 1].unicodeScalars.append(scalar)
        }
        return words.map { "=?UTF-8?B?\(Data($0.utf8).base64EncodedString())?=" }.joined(separator: "\r\n ")
    }

    private static func isPrintableASCII(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Such as `Fri, 13 Mar 2026 10:00:00 +0000` (RFC 5322 §3.3).
    private static func timestamp(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss Z"
        return formatter.string(from: date)
    }
}

extension Data.Base64EncodingOptions {
    /// Lines of 76 characters that end in CRLF (RFC 2045 §6.8).
    fileprivate static let mailLines: Self = [
        .lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed,
    ]
}
