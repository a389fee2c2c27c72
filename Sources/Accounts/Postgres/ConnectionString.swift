internal import CPostgres

/// The options with which libpq would connect. libpq takes them from a connection string, environment variables and
/// service files.
package struct ConnectionString: Sendable {
    /// The hosts except Unix sockets, loopback addresses and `localhost`.
    package let remoteHosts: [String]
    /// The name of the database.
    package let database: String
    /// The `sslmode` that applies, such as `prefer` or `verify-full`.
    package let sslMode: String
    /// Whether the connection string itself contains an `sslmode`, and not only the environment or a service file.
    package let statesSSLMode: Bool
    /// Whether the connection string itself contains a password.
    package let containsPassword: Bool

    /// Reads the environment and the service files, but does not connect. Returns nil if libpq cannot parse the string,
    /// or does not know the service that the string or the environment names.
    package init?(_ text: String) {
        // libpq resolves all options only when it begins to connect. The invalid value `none` makes libpq stop directly
        // after that, before it opens a connection.
        let keywords = CStrings(["dbname", "target_session_attrs"])
        let values = CStrings([text, "none"])
        let connection = withExtendedLifetime((keywords, values)) {
            PQconnectStartParams(keywords.pointers, values.pointers, 1)
        }
        defer { PQfinish(connection) }
        let options = Self.values(owning: PQconninfo(connection))
        guard let sslMode = options["sslmode"] else { return nil }
        // Empty if the connection string is only the name of a database, which `PQconninfoParse` cannot parse.
        let stated = Self.values(owning: PQconninfoParse(text, nil))
        self.sslMode = sslMode
        database = options["dbname"] ?? ""
        statesSSLMode = stated["sslmode"] != nil
        containsPassword = stated["password"]?.isEmpty == false
        remoteHosts = Self.hosts(options).filter { host in
            // An empty host is the default Unix socket. A host that begins with `@` is an abstract Unix socket.
            !host.isEmpty && !["/", "@"].contains(host.first) && !IPAddress.isLoopback(host: host)
        }
    }

    /// Whether libpq would connect to another machine with a weaker `sslmode` than `verify-full`, which verifies the
    /// certificate and the host name. Then an attacker in the network could read the connection, or pretend to be
    /// PostgreSQL.
    package var isUnverified: Bool { !remoteHosts.isEmpty && sslMode != "verify-full" }

    /// The remote hosts, or `local` if there are none, and the database, such as `db.example.com/accounts`.
    package var destination: String {
        "\(remoteHosts.isEmpty ? "local" : remoteHosts.joined(separator: ","))/\(database)"
    }

    /// The hosts that libpq connects to. An address in `hostaddr` takes precedence over the name at the same position.
    private static func hosts(_ options: [String: String]) -> [String] {
        func list(_ keyword: String) -> [String] {
            // To libpq, an empty value is the same as none.
            guard let value = options[keyword], !value.isEmpty else { return [] }
            return value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (hosts, addresses) = (list("host"), list("hostaddr"))
        guard !addresses.isEmpty else { return hosts }
        return addresses.enumerated().map { index, address in
            address.isEmpty && hosts.indices.contains(index) ? hosts[index] : address
        }
    }

    /// Returns the options that have a value, by keyword. Frees the array.
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
