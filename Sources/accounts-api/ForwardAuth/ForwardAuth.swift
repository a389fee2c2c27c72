import Accounts

/// What the service needs to answer proxies: nothing is configured if there is no such value.
struct ForwardAuth: Sendable {
    let hosts: ForwardAuthHosts
    let keys: SigningKeys
}

/// The hosts of the applications behind proxies.
struct ForwardAuthHosts: Sendable {
    /// Each with its port if it is not the default one, as browsers send it in `Host`.
    private let names: Set<String>
    /// The scheme of `PUBLIC_URL`, which all of them have: sessions are not for plain HTTP.
    private let scheme: String

    init(_ names: Set<String>, publicURL: String) {
        self.names = names
        scheme = publicURL.hasPrefix("https://") ? "https://" : "http://"
    }

    func contains(_ host: String) -> Bool { names.contains(host) }

    /// The URL of a resource of one of the hosts, to which the person may be sent after signing in; nil if it is none.
    func url(host: String, target: String) -> String? { allowed("\(scheme)\(host)\(target)") }

    /// The URL if a person may be sent there; nil for any other text.
    ///
    /// It has the right scheme, the exact name of a host, and only characters about which no two programs disagree: so
    /// no user name, backslash or space lets a browser find another host than this function.
    func allowed(_ url: String) -> String? {
        guard url.utf8.count <= Self.maximumBytes, url.hasPrefix(scheme), url.utf8.allSatisfy(Self.isUnambiguous)
        else { return nil }
        return contains(Self.host(of: url)) ? url : nil
    }

    /// The host of an address that begins with `https://` or `http://`, with its port.
    static func host(of url: String) -> String {
        String(url.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) })
    }

    private static let maximumBytes = 2000

    /// The characters of a URI (RFC 3986 §2) that need no percent-encoding.
    private static func isUnambiguous(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || uriMarks.contains(byte)
    }

    private static let uriMarks = Set("-._~:/?#[]@!$&'()*+,;=%".utf8)
}
