/// The OpenID provider: tells applications who has signed in. Each act has its own file in this folder.
package struct Provider: Sendable {
    package let sessions: Sessions
    package let registry: ApplicationRegistry
    package let signingKeys: SigningKeys
    /// The issuer of all tokens, which is the setting `PUBLIC_URL`.
    package let issuer: String

    var database: Database { sessions.database }
    package var keys: KeyRing { sessions.keys }

    package init(sessions: Sessions, registry: ApplicationRegistry, signingKeys: SigningKeys, issuer: String) {
        (self.sessions, self.registry) = (sessions, registry)
        (self.signingKeys, self.issuer) = (signingKeys, issuer)
    }

    package func application(_ id: String) -> Application? { registry.current[id] }

    /// Returns a copy for a client in that network. The copy applies the rate limits of the network.
    package func from(_ network: Network) -> Provider {
        let sessions = sessions.from(network, SessionClient(browser: nil, device: nil))
        return Provider(sessions: sessions, registry: registry, signingKeys: signingKeys, issuer: issuer)
    }
}

/// The access of one application to one session. Its id is the claim `sid` in all JWTs that the application gets for
/// the session.
package enum Grant {}

/// One answer to an authorization request: a code, and the tokens for which the application exchanges the code.
package enum Authorization {
    /// The lifetime of a code. RFC 6749 §4.1.2 recommends at most ten minutes, but applications exchange a code
    /// immediately.
    static let codeLifetime = Duration.seconds(60)
    /// The number of authorizations with a used code that a grant keeps when it gets a new code. Each tab of the application may have one.
    static let maximum = 50
    /// The maximum number of authorizations of a grant that have an unused code.
    static let maximumUnused = 10
}

extension Provider {
    /// The lifetime of an access token, in seconds. It is short because an API that verifies the token itself does not
    /// notice when the session ends.
    package static let accessTokenLifetime = 300
    /// The lifetime of an ID token, in seconds. An application reads an ID token immediately, to learn who has signed
    /// in.
    static let idTokenLifetime = 600

    /// Returns the URL that leads the browser back to the application, with the parameters in its query.
    ///
    /// - Parameter parameters: the parameters of the answer. Those without a value are left out, and `iss` is added
    ///   (RFC 9207).
    package func redirect(to uri: String, _ parameters: [(name: String, value: String?)]) -> String {
        let query = (parameters + [("iss", issuer)]).compactMap { name, value in
            value.map { "\(name)=\($0.formEncoded)" }
        }
        return uri + (uri.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query.joined(separator: "&")
    }

    package func redirect(_ refusal: RefusedRequest) -> String {
        redirect(
            to: refusal.redirectURI,
            [("error", refusal.error.code), ("error_description", refusal.error.description), ("state", refusal.state)]
        )
    }
}

extension String {
    /// The text with every byte percent-encoded, except ASCII letters, digits, `-`, `.`, `_` and `~` (RFC 3986 §2.3).
    package var formEncoded: String {
        utf8.reduce(into: "") { text, byte in
            if byte.isASCIIAlphanumeric || "-._~".utf8.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }
}

extension Provider {
    /// Verifies a token. Returns nil unless this service has signed it as a token of this type. It may have expired.
    func verified(_ text: String, _ type: JWTType) async throws(ProviderError) -> VerifiedJWT? {
        do throws(SigningError) {
            return try await signingKeys.verify(text, type: type)
        } catch {
            if case .invalid = error { return nil }
            throw .signing(error)
        }
    }

    /// The names of all claims about a person that the registered applications get, sorted.
    package var claimNames: [String] { Set(registry.current.all.flatMap(\.claimNames)).sorted() }
}

// MARK: - Encrypted values in URLs and forms

extension Provider {
    /// Returns the request in a ticket; nil if the ticket is not valid, or its application or redirect URI is not
    /// registered any more.
    package func request(ticket: String) -> AuthorizationRequest? {
        guard let request = AuthorizationRequest(ticket: ticket, keys),
            application(request.application)?.allows(redirectURI: request.redirectURI) == true
        else { return nil }
        return request
    }

    /// The language that the request asks for. Nil if it asks for none, or if the flow file does not have it any more.
    package func language(of request: AuthorizationRequest) -> Language? {
        request.locale.flatMap { sessions.flow.languages[$0] }
    }

    /// Encrypts the URL to which a form leads, so that a client cannot put another URL into the form.
    package func seal(target: String) -> String { keys.seal(Array(target.utf8), for: Self.target).base64URL }

    package func open(target: String) -> String? {
        guard let sealed = [UInt8].fromBase64URL(target.utf8) else { return nil }
        return (try? keys.open(sealed, for: Self.target)).flatMap { String(validating: $0, as: UTF8.self) }
    }

    private static let target = SealedPlace(table: "sign_out_targets", row: [])
}
