internal import Crypto
internal import Foundation

/// A client of the accounts, as the applications file registers it.
package struct Application: Sendable {
    package let id: String
    package let redirectURIs: [String]
    package let postLogoutRedirectURIs: [String]
    /// Where a sign-up that is finished on another device continues.
    package let initiateLoginURI: String?
    package let backchannelLogoutURI: String?
    package let webhook: Webhook?
    /// Of its ID tokens.
    package let signingAlgorithm: SigningAlgorithm
    let names: [Language: String]
    /// The fields whose values it gets.
    let fields: [Field]
    /// Of one secret, or of two while one replaces the other; none for a public client.
    let secretDigests: [SHA256.Digest]

    /// True for an application that can keep no secret, such as one in a browser or on a phone (RFC 6749 §2.1).
    package var isPublic: Bool { secretDigests.isEmpty }

    /// The fields whose values it gets.
    package var claims: [FieldName] { fields.map(\.name) }

    /// The names that those values have as claims.
    var claimNames: [String] { fields.flatMap { $0.kind.claims(.null, of: $0, isProved: true).map(\.name) } }

    package func name(in language: Language) -> String {
        names[language] ?? names[.english] ?? names.min { $0.key.tag < $1.key.tag }?.value ?? id
    }

    /// Whether it has registered this URI. Compares bytes; only the port of a loopback address is free for a public client
    /// (RFC 8252 §7.3).
    package func allows(redirectURI uri: String) -> Bool {
        redirectURIs.contains { registered in
            registered.utf8.elementsEqual(uri.utf8)
                || isPublic && ApplicationURI.differInLoopbackPort(registered, uri)
        }
    }

    package func allows(postLogoutRedirectURI uri: String) -> Bool {
        postLogoutRedirectURIs.contains { $0.utf8.elementsEqual(uri.utf8) }
    }

    /// Whether this is one of its secrets. The time does not depend on how much of a secret is right. False for a public
    /// client.
    package func accepts(secret: String) -> Bool { accepts(SHA256.hash(data: Data(secret.utf8))) }

    package func accepts(secret: borrowing Secret) -> Bool { accepts(secret.withBytes { SHA256.hash(data: $0) }) }

    private func accepts(_ digest: SHA256.Digest) -> Bool {
        // Digests are compared in constant time, and all of them.
        secretDigests.count { $0 == digest } > 0
    }

    /// What it gets of an account in tokens and events, without the id. A value that the flow does not allow any more is
    /// left out.
    package func claims(of account: Account) -> [JSON.Member] {
        fields.flatMap { field -> [JSON.Member] in
            guard let json = account.json(of: field), field.kind.value(json: json) != nil else { return [] }
            return field.kind.claims(json, of: field, isProved: account.isEmailProved)
        }
    }
}
