internal import CIdn
internal import Foundation

/// An e-mail address that this service accepts, in canonical form: ASCII, lower case, the domain as A-labels.
///
/// The local part is a dot-atom of at most 64 octets (RFC 5321). The domain has at least two labels of letters, digits
/// and hyphens, of which the last is not a number. The whole address has at most 254 octets. Quotes, comments, address
/// literals and local parts that are not ASCII are refused.
package struct EmailAddress: Hashable, Sendable {
    package let rawValue: String

    package var localPart: Substring { rawValue[..<rawValue.lastIndex(of: "@")!] }

    /// The address with most characters hidden, so that its owner recognises it, but other people cannot send mail to
    /// it: `k•••@e•••.com` for `kim@example.com`.
    package var masked: String {
        "\(localPart.prefix(1))•••@\(domain.prefix(1))•••\(domain[domain.lastIndex(of: ".")!...])"
    }

    /// The address with the whole domain, but only the first character of the local part: `k•••@example.com`.
    package var maskedName: String { "\(localPart.prefix(1))•••@\(domain)" }

    private var domain: Substring { rawValue[rawValue.index(after: rawValue.lastIndex(of: "@")!)...] }

    /// Converts the text to canonical form. Returns nil if the text is not an accepted address.
    package init?(_ text: String) {
        guard text.utf8.count <= 1024, let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return nil }
        let local = text.utf8[..<at]
        guard (1...64).contains(local.count), Self.isDotAtom(local),
            let domain = Self.asciiDomain(String(text[text.utf8.index(after: at)...])), Self.isHostName(domain)
        else { return nil }
        let address = (text[..<at] + "@" + domain).lowercased()
        guard address.utf8.count <= 254 else { return nil }
        rawValue = address
    }

    /// Whether the text is a dot-atom: runs of `atext` characters with single dots between them (RFC 5322 §3.2.3).
    private static func isDotAtom(_ text: Substring.UTF8View) -> Bool {
        text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty && atom.allSatisfy { $0.isASCIIAlphanumeric || "!#$%&'*+-/=?^_`{|}~".utf8.contains($0) }
        }
    }

    private static func isHostName(_ domain: String) -> Bool {
        let labels = domain.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count >= 2
            && labels.allSatisfy { label in
                (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                    && label.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }
            }
            && !labels.last!.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Converts a domain to A-labels with libidn2 (IDNA 2008, non-transitional). Returns an ASCII domain unchanged, and
    /// nil if the domain cannot be converted.
    private static func asciiDomain(_ domain: String) -> String? {
        if domain.utf8.allSatisfy({ $0 < 0x80 }) { return domain }
        guard domain.utf8.count <= 253, !domain.utf8.contains(0) else { return nil }
        var ascii: UnsafeMutablePointer<CChar>?
        let flags = Int32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
        guard idn2_to_ascii_8z(domain, &ascii, flags) == IDN2_OK.rawValue, let ascii else { return nil }
        defer { idn2_free(ascii) }
        return String(cString: ascii)
    }
}

extension EmailAddress: StoredValue {
    package init?(json: JSON) {
        guard let text = json.string, let address = EmailAddress(text), address.rawValue == text else { return nil }
        self = address
    }

    package var json: JSON { .string(rawValue) }
}

extension UInt8 {
    package var isASCIIAlphanumeric: Bool { (0x30...0x39).contains(self) || (0x61...0x7A).contains(self | 0x20) }
}
