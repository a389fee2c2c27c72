internal import Crypto
internal import Foundation

/// An application in which people sign in with their account, as the applications file registers it.
package struct Application: Sendable {
    package let id: String
    package let redirectURIs: [String]
    package let postLogoutRedirectURIs: [String]
    /// The URI at which the application begins a sign-in. After a sign-up or a recovery, the service sends the person
    /// to this URI if it cannot continue the authorization request of the application, for example because the person
    /// has changed to another device.
    package let initiateLoginURI: String?
    package let backchannelLogoutURI: String?
    package let webhook: Webhook?
    /// The algorithm that signs the ID tokens of the application.
    package let signingAlgorithm: SigningAlgorithm
    let names: [Language: String]
    /// The fields whose values the application gets as claims.
    let fields: [Field]
    /// The digests of the client secrets: one, two while one secret replaces the other, or none for a public client.
    let secretDigests: [SHA256.Digest]

    /// True for an application that cannot keep a secret, such as one in a browser or on a phone (RFC 6749 §2.1).
    package var isPublic: Bool { secretDigests.isEmpty }

    /// The names of the fields whose values the application gets as claims.
    package var fieldNames: [FieldName] { fields.map(\.name) }

    /// The names of the claims that the application gets. One field may give several claims, such as `email` and
    /// `email_verified`.
    var claimNames: [String] { fields.flatMap { $0.kind.claims(.null, of: $0, isProved: true).map(\.name) } }

    package func name(in language: Language) -> String {
        names[language] ?? names[.english] ?? names.min { $0.key.tag < $1.key.tag }?.value ?? id
    }

    /// Whether the application has registered this redirect URI. The bytes must be equal, except that a public client
    /// may use any port of a registered loopback address (RFC 8252 §7.3).
    package func allows(redirectURI uri: String) -> Bool {
        redirectURIs.contains { registered in
            registered.hasSameBytes(as: uri)
                || isPublic && ApplicationURIRules.differAtMostInLoopbackPort(registered, uri)
        }
    }

    package func allows(postLogoutRedirectURI uri: String) -> Bool {
        postLogoutRedirectURIs.contains { $0.hasSameBytes(as: uri) }
    }

    /// Whether the text is one of the client secrets; false for a public client. The duration of the comparison does
    /// not reveal how much of a secret is correct.
    package func accepts(secret: String) -> Bool { accepts(SHA256.hash(data: Data(secret.utf8))) }

    package func accepts(secret: borrowing Secret) -> Bool { accepts(secret.withBytes { SHA256.hash(data: $0) }) }

    private func accepts(_ digest: SHA256.Digest) -> Bool {
        // `==` compares two digests in constant time, and `count` compares all of them.
        secretDigests.count { $0 == digest } > 0
    }

    /// The claims about the account that the application gets in ID tokens, in responses of `/oauth/userinfo` and in
    /// events, besides the id of the account. Omits a value that the kind of its field cannot read any more, because
    /// the flow file has changed.
    package func claims(of account: Account) -> [JSON.Member] {
        fields.flatMap { field -> [JSON.Member] in
            guard let json = account.json(of: field), field.kind.value(json: json) != nil else { return [] }
            return field.kind.claims(json, of: field, isProved: account.isEmailProved)
        }
    }
}
