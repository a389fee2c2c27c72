import Accounts

/// The hosts and keys with which the service answers proxies that ask who the person is. The server makes this value
/// only if `FORWARD_AUTH_HOSTS` is not empty.
struct ForwardAuth: Sendable {
    let hosts: ForwardAuthHosts
    let keys: SigningKeys
}

/// The hosts of the applications behind proxies.
struct ForwardAuthHosts: Sendable {
    /// The names of the hosts, each with its port unless it is the default one, as browsers send them in `Host`.
    private let names: Set<String>
    /// The scheme of `PUBLIC_URL`, with `://`. All hosts have this scheme, so that a sign-in over HTTPS never leads to
    /// plain HTTP.
    private let scheme: String

    init(_ names: Set<String>, publicURL: String) {
        self.names = names
        scheme = publicURL.hasPrefix("https://") ? "https://" : "http://"
    }

    func contains(_ host: String) -> Bool { names.contains(host) }

    /// The URL of the resource that the person has requested, to which the person may be sent after signing in; nil if
    /// ``allowed(_:)`` refuses the URL.
    func url(host: String, target: String) -> String? { allowed("\(scheme)\(host)\(target)") }

    /// Returns the URL if a person may be sent there after signing in; nil for any other text.
    ///
    /// The URL must have at most 2000 bytes, the scheme of `PUBLIC_URL`, exactly the name of one of the hosts, and only
    /// characters of a URI. So it has no user name, backslash or space that could make a browser find another host than
    /// this function.
    func allowed(_ url: String) -> String? {
        guard url.utf8.count <= Self.maximumBytes, url.hasPrefix(scheme), url.utf8.allSatisfy(Self.isURICharacter)
        else { return nil }
        return contains(Self.host(of: url)) ? url : nil
    }

    /// The host of a URL that begins with `https://` or `http://`, with its port.
    static func host(of url: String) -> String {
        String(url.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) })
    }

    private static let maximumBytes = 2000

    /// Whether the byte is a character that a URI may contain (RFC 3986 §2): a letter, a digit, or a mark such as `%`.
    private static func isURICharacter(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || uriMarks.contains(byte)
    }

    private static let uriMarks = Set("-._~:/?#[]@!$&'()*+,;=%".utf8)
}
