/// The parameters of an OAuth request: its query, or its body if that is a form. Unknown parameters are ignored (OpenID
/// Connect Core §3.1.2.1).
package struct OAuthParameters: Sendable {
    private let answers: Answers

    /// Throws `invalid_request` if a parameter occurs twice (RFC 6749 §3.1), if the text is not a form, or if the form
    /// has more than 100 pairs. A name without `=` is a parameter with an empty value. Empty pairs, as in `a=1&&b=2`,
    /// are ignored.
    package init(form bytes: UnsafeRawBufferPointer) throws(OAuthError) {
        do throws(MalformedBody) {
            answers = try Answers.readForm(
                bytes,
                secretNames: ["client_secret"],
                maximumPairs: 100,
                allowsBareNames: true
            )
        } catch {
            throw error.reason == .duplicateName
                ? .invalidRequest("A parameter occurs more than once.")
                : .invalidRequest("The parameters are not a valid form.")
        }
    }

    package init(query: String) throws(OAuthError) {
        self = try Array(query.utf8).withUnsafeBytes { bytes in
            Result { () throws(OAuthError) in try Self(form: bytes) }
        }.get()
    }

    /// The value of a parameter other than `client_secret`; nil if the parameter is missing or empty, which means the
    /// same (RFC 6749 §3.1).
    package subscript(name: String) -> String? {
        answers[FieldName(name)]?.json?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    package var clientSecret: SharedSecret? {
        if case .secret(let secret)? = answers["client_secret"], secret.secret.count > 0 { secret } else { nil }
    }

    /// The words of a parameter whose value is a list separated by spaces; empty if the parameter is missing.
    func words(_ name: String) -> [String] {
        self[name]?.split(separator: " ").map(String.init) ?? []
    }
}
