/// The OpenID provider: hands the accounts over to applications. Each act is a file in this folder.
package struct Provider: Sendable {
    package let sessions: Sessions
    package let registry: ApplicationRegistry
    package let signingKeys: SigningKeys
    /// `PUBLIC_URL`.
    package let issuer: String

    var database: Database { sessions.database }
    package var keys: KeyRing { sessions.keys }

    package init(sessions: Sessions, registry: ApplicationRegistry, signingKeys: SigningKeys, issuer: String) {
        (self.sessions, self.registry) = (sessions, registry)
        (self.signingKeys, self.issuer) = (signingKeys, issuer)
    }

    package func application(_ id: String) -> Application? { registry.current[id] }

    /// A copy for a client in that network.
    package func from(_ network: Network) -> Provider {
        let sessions = sessions.from(network, SessionClient(browser: nil, device: nil))
        return Provider(sessions: sessions, registry: registry, signingKeys: signingKeys, issuer: issuer)
    }
}

/// What one session has given one application. Its id is the `sid` of all tokens.
package enum Grant {}

/// One answer to an authorization request: a code, and the tokens that it buys.
package enum Authorization {
    /// RFC 6749 §4.1.2 recommends at most ten minutes; a code is used at once.
    static let codeLifetime = Duration.seconds(60)
    /// The number of authorizations of a grant that are kept. Each tab of the application may have one.
    static let maximum = 50
    /// The number of codes that wait for their use.
    static let maximumUnused = 10
}

extension Provider {
    /// The lifetime of an access token, in seconds. It is short because nobody asks the database about it.
    package static let accessTokenLifetime = 300
    /// An ID token tells an application who has signed in, and is used at once.
    static let idTokenLifetime = 600

    /// The redirect back to the application, with the parameters in the query.
    ///
    /// - Parameter parameters: those without a value are left out. Every answer has the `iss` of RFC 9207.
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
    /// With every byte escaped but letters, digits, `-`, `.`, `_` and `~` (RFC 3986 §2.3).
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
    /// The token, if it is one of this service. It may have expired.
    func verified(_ text: String, _ type: JWTType) async throws(ProviderError) -> VerifiedJWT? {
        do throws(SigningError) {
            return try await signingKeys.verify(text, type: type)
        } catch {
            if case .invalid = error { return nil }
            throw .signing(error)
        }
    }

    /// The names of the claims that applications get of a person.
    package var claimNames: [String] { Set(registry.current.all.flatMap(\.claimNames)).sorted() }
}

// MARK: - Texts in addresses and forms

extension Provider {
    /// The request of a ticket, if its application is still registered.
    package func request(ticket: String) -> AuthorizationRequest? {
        guard let request = AuthorizationRequest(ticket: ticket, keys),
            application(request.application)?.allows(redirectURI: request.redirectURI) == true
        else { return nil }
        return request
    }

    /// The language that a request asks for. Nil if it asks for none, or if the flow file has changed since then and does
    /// not have it any more.
    package func language(of request: AuthorizationRequest) -> Language? {
        request.locale.flatMap { sessions.flow.languages[$0] }
    }

    /// The address that a form goes on to, encrypted, so that nobody can put another one into the form.
    package func seal(target: String) -> String { keys.seal(Array(target.utf8), for: Self.target).base64URL }

    package func open(target: String) -> String? {
        guard let sealed = [UInt8].fromBase64URL(target.utf8) else { return nil }
        return (try? keys.open(sealed, for: Self.target)).flatMap { String(validating: $0, as: UTF8.self) }
    }

    private static let target = SealedPlace(table: "sign_out_targets", row: [])
}
