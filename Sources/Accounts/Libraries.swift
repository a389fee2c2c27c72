internal import CCurl
internal import CPostgres

/// The libraries that are linked at run time. Their versions depend on the machine.
package enum Libraries {
    package static let text = """
        libpq \(postgres)
        \(String(cString: curl_version()))
        \(Argon2.library)
        """

    /// Such as 15.18.
    private static var postgres: String {
        let number = PQlibVersion()
        return "\(number / 10_000).\(number % 10_000)"
    }
}
