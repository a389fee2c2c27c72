internal import Foundation

/// A token that this service has signed. It may have expired.
package struct VerifiedJWT: Sendable {
    /// A JSON object in which no name occurs twice.
    package let claims: JSON

    /// Whether the token has expired, by the clock of this server. A token without `exp` counts as expired.
    package var isExpired: Bool { isExpired(at: Date().timeIntervalSince1970) }

    /// - Parameter now: seconds since 1970.
    func isExpired(at now: Double) -> Bool {
        guard case .integer(let end)? = claims["exp"] else { return true }
        return Double(end) <= now
    }
}

/// A signed token in the compact form (RFC 7515 §7.1). The initializer accepts only a text of the form that this
/// service writes, because the service reads only its own tokens.
struct JWT {
    let algorithm: SigningAlgorithm
    let kid: String
    /// The header and the payload as they are signed.
    private let signed: [UInt8]
    private let payload: [UInt8]
    private let signature: [UInt8]

    /// The maximum length of a token that the initializer reads. ``sign(_:type:by:)`` can write a longer ID token, if
    /// the application gets long claims. The service reads an ID token only as `id_token_hint`, usually in a URL, and
    /// refuses longer URLs.
    static let maximumBytes = 8192

    /// Reads the header, but verifies nothing. Returns nil unless the header has exactly the members that
    /// ``sign(_:type:by:)`` writes, and the `typ` of this type.
    init?(_ text: String, type: JWTType) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumBytes else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = [UInt8].fromBase64URL(parts[0]),
            let payload = [UInt8].fromBase64URL(parts[1]),
            let signature = [UInt8].fromBase64URL(parts[2]),
            case .object(let members)? = try? JSON.read(header), members.count == 3,
            let algorithm = members.text("alg").flatMap(SigningAlgorithm.init), let kid = members.text("kid"),
            members.text("typ") == type.headerType
        else { return nil }
        (self.algorithm, self.kid) = (algorithm, kid)
        (self.payload, self.signature) = (payload, signature)
        signed = Array(bytes[..<parts[1].endIndex])
    }

    /// Verifies the signature. Returns nil if the token names another key or algorithm, the signature is wrong, or the
    /// token is of another type.
    func verified(by key: PublicSigningKey, type: JWTType) -> VerifiedJWT? {
        guard key.kid == kid, key.algorithm == algorithm, key.verifies(signature, of: signed) else { return nil }
        return claims(type: type).map { VerifiedJWT(claims: $0) }
    }

    /// Returns the claims without verifying them, so anyone may have written them. Returns nil if the token is of
    /// another type.
    func claims(type: JWTType) -> JSON? {
        guard let claims = try? JSON.read(payload), case .object = claims, claims["token_use"] == type.use
        else { return nil }
        return claims
    }

    /// - Parameter claims: the claims of the token. If several have the same name, the token contains only the first
    ///   one, so put the claims of the protocol before those about a person. A claim named `token_use` is left out.
    static func sign(_ claims: [JSON.Member], type: JWTType, by key: PrivateSigningKey) throws -> String {
        let header: JSON = [
            "alg": .string(key.publicKey.algorithm.rawValue), "kid": .string(key.publicKey.kid),
            "typ": .string(type.headerType),
        ]
        var names: Set<[UInt8]> = [Array("token_use".utf8)]
        let payload = JSON.object(
            (type.use.map { [JSON.Member("token_use", $0)] } ?? [])
                + claims.filter { names.insert(Array($0.name.utf8)).inserted }
        )
        let signed = "\(header.bytes.base64URL).\(payload.bytes.base64URL)"
        return try "\(signed).\(key.signature(of: Array(signed.utf8)).base64URL)"
    }
}

extension [JSON.Member] {
    fileprivate func text(_ name: String) -> String? { JSON.object(self)[name]?.string }
}
