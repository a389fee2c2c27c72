/// The parameters of an OAuth request: a query, or the body of a form. Unknown ones are ignored (OpenID Connect Core
/// §3.1.2.1).
package struct OAuthParameters: Sendable {
    private let answers: Answers

    /// Throws `invalid_request` for a parameter that occurs twice (RFC 6749 §3.1), and for text that is not a form. A name
    /// without `=` is a parameter without a value, and an `&` too many changes nothing.
    package init(form bytes: UnsafeRawBufferPointer) throws(OAuthError) {
        do throws(MalformedBody) {
            answers = try Answers.readForm(
                bytes,
                secretMembers: ["client_secret"],
                maximumValues: 100,
                allowsBareNames: true
            )
        } catch {
            throw error.reason == .duplicateName
                ? .invalidRequest("A parameter occurs more than once.")
                : .invalidRequest("The parameters are not those of a form.")
        }
    }

    package init(query: String) throws(OAuthError) {
        self = try Array(query.utf8).withUnsafeBytes { bytes in
            Result { () throws(OAuthError) in try Self(form: bytes) }
        }.get()
    }

    /// Nil if the parameter is absent or empty, which mean the same (RFC 6749 §3.1).
    package subscript(name: String) -> String? {
        answers[FieldName(name)]?.json?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    package var clientSecret: SharedSecret? {
        if case .secret(let secret)? = answers["client_secret"], secret.secret.count > 0 { secret } else { nil }
    }

    /// The words of a parameter that is a list with spaces.
    func words(_ name: String) -> [String] {
        self[name]?.split(separator: " ").map(String.init) ?? []
    }
}
