internal import CPostgres

/// What libpq makes of a connection string, with the environment variables and service files that it reads as well.
package struct ConnectionString: Sendable {
    /// The hosts that are neither a Unix socket nor a loopback address.
    package let remoteHosts: [String]
    /// The `sslmode` that applies, such as `prefer` or `verify-full`.
    package let sslMode: String
    /// Whether the string itself has an `sslmode`, and not only the environment or a service file.
    package let statesSSLMode: Bool
    /// Whether the string itself has a password.
    package let containsPassword: Bool

    /// Reads files of libpq, but does not connect. Nil if libpq cannot parse the string or does not know its service.
    package init?(_ text: String) {
        // libpq only resolves all options when it begins to connect. The invalid value makes it stop right after that.
        let keywords = CStrings(["dbname", "target_session_attrs"])
        let values = CStrings([text, "none"])
        let connection = withExtendedLifetime((keywords, values)) {
            PQconnectStartParams(keywords.pointers, values.pointers, 1)
        }
        defer { PQfinish(connection) }
        let options = Self.values(owning: PQconninfo(connection))
        guard let sslMode = options["sslmode"] else { return nil }
        // Empty if the whole string is the name of a database.
        let stated = Self.values(owning: PQconninfoParse(text, nil))
        self.sslMode = sslMode
        statesSSLMode = stated["sslmode"] != nil
        containsPassword = stated["password"]?.isEmpty == false
        remoteHosts = Self.hosts(options).filter { host in
            // An empty host is the default Unix socket; @ begins an abstract one.
            !host.isEmpty && !["/", "@"].contains(host.first) && !IPAddress.isLoopback(host: host)
        }
    }

    /// Whether another machine on the network could read the connection, or pretend to be the server.
    package var isUnverified: Bool { !remoteHosts.isEmpty && sslMode != "verify-full" }

    /// The hosts that libpq connects to. An address in `hostaddr` takes precedence over the name at the same position.
    private static func hosts(_ options: [String: String]) -> [String] {
        func list(_ keyword: String) -> [String] {
            options[keyword]?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        }
        let (hosts, addresses) = (list("host"), list("hostaddr"))
        guard !addresses.isEmpty else { return hosts }
        return addresses.enumerated().map { index, address in
            address.isEmpty && hosts.indices.contains(index) ? hosts[index] : address
        }
    }

    /// The options that have a value, by keyword. Frees the array.
    private static func values(owning options: UnsafeMutablePointer<PQconninfoOption>?) -> [String: String] {
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var next = options
        while let option = next?.pointee, let keyword = option.keyword {
            if let value = option.val { values[String(cString: keyword)] = String(cString: value) }
            next = next?.successor()
        }
        return values
    }
}
