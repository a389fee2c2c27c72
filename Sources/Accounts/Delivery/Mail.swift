package import Foundation

/// Sends mails, one at a time.
package protocol Mailer: Sendable {
    /// The outcome of a mail that was sent, in the metrics.
    var outcome: String { get }
    /// Connects to the mail server, unless a connection is open.
    func connect() async throws(MailError)
    /// Returns when the mail server has accepted the mail.
    ///
    /// - Returns: the reply with which the server accepted the mail, such as `250 2.0.0 Ok: queued as 4Zx1`, without
    ///   addresses; nil if there is none.
    @discardableResult
    func send(_ mail: Mail) async throws(MailError) -> String?
}

extension Mailer {
    package var outcome: String { "delivered" }
    package func connect() async throws(MailError) {}
}

/// The reason why a mail was not delivered. The description contains no addresses, and none of the text of the mail
/// unless the mail server quotes it.
package enum MailError: Error, Hashable, CustomStringConvertible {
    /// A retry may succeed: for example, the connection or the login failed, or the mail server asked for a retry
    /// (4xx). `reply` is the code of the SMTP reply that refuses the session or the mail (RFC 5321 §4.2); nil for a
    /// failure without such a reply.
    case temporary(reply: Int?, reason: String)
    /// A retry cannot succeed: the mail server refused the mail permanently (5xx), or the mail or the SMTP URL is
    /// invalid.
    case permanent(reply: Int?, reason: String)

    /// The code and the text of the reply that refuses the session or the mail. Without such a reply, a description of
    /// the failure.
    package var reason: String {
        switch self {
        case .temporary(let reply?, let reason), .permanent(let reply?, let reason): "\(reply) \(reason)"
        case .temporary(nil, let reason), .permanent(nil, let reason): reason
        }
    }

    package var description: String {
        switch self {
        case .temporary: "not delivered yet: \(reason)"
        case .permanent: "not deliverable: \(reason)"
        }
    }
}

/// A plain text mail to one person. Its parts are checked, so that none of them can inject a header.
package struct Mail: Sendable {
    /// The address of the sender.
    package let from: String
    /// The name of the sender, which mail programs show.
    package let fromName: String?
    package let to: String
    package let subject: String
    /// The text of the mail, with any kind of line break.
    package let text: String
    /// A UUID that stays the same when the mail is sent again, so that a mailbox can recognize a duplicate.
    package let id: String
    package let date: Date

    /// Throws `permanent` if an address is invalid, the id is not a UUID, or the subject or `fromName` contains a
    /// control character, a line separator or a paragraph separator.
    package init(
        from: String,
        fromName: String? = nil,
        to: String,
        subject: String,
        text: String,
        id: String,
        date: Date
    ) throws(MailError) {
        guard Self.isAddress(from) else { throw .permanent(reply: nil, reason: "the address of the sender is invalid") }
        guard Self.isAddress(to) else {
            throw .permanent(reply: nil, reason: "the address of the recipient is invalid")
        }
        guard Self.isOneLine(subject), Self.isOneLine(fromName ?? "") else {
            throw .permanent(reply: nil, reason: "a header contains control characters or line breaks")
        }
        guard UUID(uuidString: id) != nil else { throw .permanent(reply: nil, reason: "the id is not a UUID") }
        self.from = from
        self.fromName = fromName
        self.to = to
        self.subject = subject
        self.text = text
        self.id = id
        self.date = date
    }

    /// Whether the text has at most 254 characters, and exactly one `@` with text on both sides. All characters must be
    /// printable ASCII, but not a space, a backslash, a quotation mark, or one of `<>()[],;:`. So the text cannot close
    /// the `<…>` around it in a header, or end the line of the header.
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
    /// The whole message as it is sent (RFC 5322, MIME in RFC 2045). Lines end in CRLF.
    var message: String {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let body = lines.joined(separator: "\r\n") + "\r\n"
        let isPlain = lines.allSatisfy { $0.utf8.count <= 78 && Self.isPrintableASCII($0) }
        return [
            "From: \(displayName)<\(from)>",
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

    /// The part of the header `From` before the address: the sender's name in quotes, or as encoded words if
    /// ``unstructured(_:)`` encodes it; empty without a name.
    private var displayName: String {
        guard let fromName, !fromName.isEmpty else { return "" }
        let words = Self.unstructured(fromName)
        guard words == fromName else { return "\(words)\r\n " }
        let escaped = fromName.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\" "
    }

    /// The text of a header: unchanged if it is printable ASCII without `=?` and has at most 66 bytes, otherwise as
    /// encoded words (RFC 2047). An encoded word holds at most 39 bytes of the text, so that its line has at most 76
    /// characters, and never splits a Unicode scalar.
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

    /// The date in the form `Fri, 13 Mar 2026 10:00:00 +0000` (RFC 5322 §3.3).
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
