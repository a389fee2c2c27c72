/// The rules for the URIs that applications register. A URI in a request must have the same bytes as a registered one,
/// with one exception: a redirect URI of a public client may have another port if its host is a loopback address (RFC
/// 9700 §2.1).
package struct ApplicationURIRules {
    /// Whether `http://localhost` is permitted, which is only for development.
    let allowsLocalhost: Bool

    /// Returns the reason why the URI cannot be registered; nil if it can.
    ///
    /// - Parameter allowsAppScheme: whether the URI may have a private-use scheme (RFC 8252 §7.1), such as
    ///   `com.example.app:/callback`.
    func mistake(in uri: String, allowsAppScheme: Bool = false) -> String? {
        // A URI with a user may contain a password, which must not appear in a message.
        let shown = uri.utf8.contains(UInt8(ascii: "@")) ? "the URI" : "\"\(uri.prefix(200))\""
        guard uri.utf8.count <= 2000 else { return "\(shown) must have at most 2000 bytes" }
        guard Self.hasValidCharacters(uri) else {
            return "\(shown) has characters that URIs must percent-encode; write international hosts as xn--…"
        }
        if uri.contains("*") { return "\(shown) must not have a wildcard; list every URI" }
        if uri.contains("#") { return "\(shown) must not have a fragment" }
        guard let colon = uri.firstIndex(of: ":"), uri[..<colon].allSatisfy({ !"/?[]@%".contains($0) }) else {
            return "\(shown) \(form(allowsAppScheme))"
        }
        let (scheme, rest) = (uri[..<colon], uri[uri.index(after: colon)...])
        let isOfApp = allowsAppScheme && Self.isAppScheme(scheme) && rest.hasPrefix("/") && !rest.hasPrefix("//")
        guard isOfApp || rest.hasPrefix("//") else { return "\(shown) \(form(allowsAppScheme))" }
        let authority = isOfApp ? "" : rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
        if authority.contains("@") { return "\(shown) must not have a user or a password" }
        let host = Self.host(of: authority)
        if !isOfApp, host == nil { return "\(shown) has an invalid host or port" }
        if Self.hasDotSegments(isOfApp ? rest : rest.dropFirst(2 + authority.count)) {
            return "\(shown) must not have the path segment \".\" or \"..\""
        }
        if isOfApp || host.map({ isEncryptedOrLocal(scheme, $0) }) == true { return nil }
        let hosts = allowsLocalhost ? "127.0.0.1, [::1] or localhost" : "127.0.0.1 or [::1]"
        return "\(shown) must begin with https://; http:// needs the host \(hosts)"
    }

    /// The end of the message about a URI that does not have a permitted form.
    private func form(_ allowsAppScheme: Bool) -> String {
        let start = "must be absolute, such as https://app.example/callback"
        return allowsAppScheme
            ? "\(start), or have a private-use scheme that contains a full stop, followed by one slash, such as com.example.app:/callback"
            : start
    }

    /// Whether the scheme is valid (RFC 3986 §3.1), and has a full stop, as a private-use scheme must (RFC 8252 §7.1).
    private static func isAppScheme(_ scheme: Substring) -> Bool {
        scheme.wholeMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*/) != nil && scheme.contains(".")
    }

    /// Whether both URIs have the same loopback address as host, and differ at most in the port. An app on the person's
    /// device listens on any free port (RFC 8252 §7.3).
    static func differAtMostInLoopbackPort(_ registered: String, _ presented: String) -> Bool {
        guard let registered = withoutLoopbackPort(registered), let presented = withoutLoopbackPort(presented) else {
            return false
        }
        return registered.elementsEqual(presented)
    }

    /// The bytes of the URI without its port; nil unless it has the scheme http, the host 127.0.0.1 or [::1], and a
    /// valid port or none. Does not check what follows the digits of the port: the registered URI is valid, and the
    /// caller compares the other one with it.
    private static func withoutLoopbackPort(_ uri: String) -> [UInt8]? {
        for origin in ["http://127.0.0.1", "http://[::1]"] where uri.utf8.starts(with: origin.utf8) {
            let rest = uri.utf8.dropFirst(origin.utf8.count)
            guard rest.first == UInt8(ascii: ":") else {
                return rest.isEmpty || rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "?")
                    ? Array(uri.utf8) : nil
            }
            let port = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard isPort(Substring(port)) else { return nil }
            return origin.utf8 + Array(rest.dropFirst(1 + port.count))
        }
        return nil
    }

    /// The origin of a URI as browsers write it (RFC 6454 §6.2): in lower case, and without the port if it
    /// is the default of the scheme. Nil for a URI with a private-use scheme.
    ///
    /// Does not normalize an IPv6 address. Browsers write the shortest form, so the origin of any other form never
    /// matches.
    package static func origin(of uri: String) -> String? {
        for (scheme, port) in [("https://", ":443"), ("http://", ":80")] where uri.hasPrefix(scheme) {
            let authority = uri.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }.lowercased()
            return scheme + (authority.hasSuffix(port) ? authority.dropLast(port.count) : authority[...])
        }
        return nil
    }

    private func isEncryptedOrLocal(_ scheme: Substring, _ host: Substring) -> Bool {
        scheme == "https"
            || scheme == "http" && (["127.0.0.1", "[::1]"].contains(host) || allowsLocalhost && host == "localhost")
    }

    /// The host, with its brackets if it is an IPv6 address; nil if the host is empty or has characters that no host
    /// has, or if the port is invalid.
    private static func host(of authority: Substring) -> Substring? {
        let isBracketed = authority.hasPrefix("[")
        let host = isBracketed ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        let inner = isBracketed ? host.dropFirst().dropLast() : host
        guard authority.hasPrefix(host), !inner.isEmpty,
            inner.allSatisfy({ isBracketed ? $0.isHexDigit || $0 == ":" || $0 == "." : isHostCharacter($0) })
        else { return nil }
        let port = authority.dropFirst(host.count)
        return port.isEmpty || port.hasPrefix(":") && isPort(port.dropFirst()) ? host : nil
    }

    private static func isHostCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber) || character == "-" || character == "."
    }

    /// Whether the text is a number from 1 to 65535 without leading zeros.
    private static func isPort(_ text: Substring) -> Bool {
        UInt16(text).map { $0 > 0 && "\($0)" == text } ?? false
    }

    /// Whether a path has a segment `.` or `..`, even percent-encoded. Browsers and URI libraries remove such segments
    /// (RFC 3986 §5.2.4), so the URI in a request could differ from the registered one.
    private static func hasDotSegments(_ path: Substring) -> Bool {
        path.prefix { $0 != "?" }.lowercased().replacing("%2e", with: ".").split(separator: "/")
            .contains { $0 == "." || $0 == ".." }
    }

    /// Whether the URI has only the characters of RFC 3986 §2, with two hexadecimal digits after each percent sign.
    private static func hasValidCharacters(_ uri: String) -> Bool {
        let bytes = Array(uri.utf8)
        return bytes.indices.allSatisfy { index in
            if bytes[index] == UInt8(ascii: "%") {
                return index + 2 < bytes.count && bytes[index + 1].isHexDigit && bytes[index + 2].isHexDigit
            }
            return bytes[index].isASCIIAlphanumeric || "-._~:/?#[]@!$&'()*+,;=".utf8.contains(bytes[index])
        }
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x46).contains(self & 0xDF)
    }
}
