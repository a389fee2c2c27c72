internal import CCurl
internal import CPostgres

/// Libraries whose versions depend on the machine, because the executable links them at run time.
package enum Libraries {
    /// Three lines for `accounts-api --version`: the version of libpq, the versions of libcurl and of the libraries
    /// that it uses, and the path of libargon2.
    package static let text = """
        libpq \(postgres)
        \(String(cString: curl_version()))
        \(Argon2.library)
        """

    /// The version of libpq, such as 15.18.
    private static var postgres: String {
        let number = PQlibVersion()
        return "\(number / 10_000).\(number % 10_000)"
    }
}
