/// The rules for passwords: a minimum and a maximum length, and no password that is easy to guess. There are no
/// composition rules (NIST SP 800-63B).
package struct PasswordRules: Sendable {
    /// The minimum length in Unicode scalars after normalisation.
    package let minimum: Int
    /// The maximum length in Unicode scalars after normalisation.
    package let maximum: Int

    /// The minimum length if the password is the only factor (NIST SP 800-63B-4 §3.1.1.2).
    package static let minimumWithoutAuthenticator = 15
    /// The minimum length if a second factor is required, too.
    package static let minimumWithAuthenticator = 8
    /// The maximum length in bytes before normalisation. ``canonical(_:field:)`` checks it before everything else.
    package static let maximumBytes = 1_024

    package init(minimum: Int = minimumWithoutAuthenticator, maximum: Int = 256) {
        self.minimum = minimum
        self.maximum = maximum
    }

    /// A copy of these rules whose minimum length is at least ``minimumWithoutAuthenticator``.
    var ofOnlyFactor: PasswordRules {
        PasswordRules(minimum: max(minimum, Self.minimumWithoutAuthenticator), maximum: maximum)
    }

    /// Returns the canonical form of a password, which is hashed and compared: PRECIS OpaqueString (RFC 8265 §4.2). All
    /// kinds of spaces become U+0020, and the text is converted to Normalization Form C. White space at the ends and
    /// the case of letters stay as they are.
    ///
    /// Throws `tooLong` above ``maximumBytes``, and `badCharacters` for bytes that are not UTF-8 and for characters
    /// that a line of text must not contain. ``refusals(of:field:context:)`` checks the other rules.
    package func canonical(_ password: SharedSecret, field: FieldName) throws(Refusal) -> SharedSecret {
        guard password.secret.count <= Self.maximumBytes else {
            throw Refusal(field, .tooLong, ["max": .integer(maximum)])
        }
        let permitted = try Secret(capacity: password.secret.count) { buffer throws(Refusal) in
            var text = UTF8Writer(buffer)
            let isUTF8 = try password.secret.withBytes { bytes throws(Refusal) in
                try bytes.visitScalars { scalar throws(Refusal) in
                    guard scalar.isAllowedInLine else { throw Refusal(field, .badCharacters) }
                    let isSpace = !scalar.isASCII && scalar.properties.generalCategory == .spaceSeparator
                    text.append(isSpace ? " " : scalar)
                }
            }
            guard isUTF8 else { throw Refusal(field, .badCharacters) }
            return text.count
        }
        return SharedSecret(permitted.isASCII ? permitted : permitted.normalised())
    }

    /// Returns all reasons to refuse a canonical password by these rules; empty if there are none.
    ///
    /// The whole password is compared with each word of `context`. This comparison and the ``Blocklist`` ignore case.
    ///
    /// - Parameter context: words of this person and this service that the password must not equal: the address, its
    ///   local part, the username, and the name of the service.
    package func refusals(of canonical: SharedSecret, field: FieldName, context: [String]) -> [Refusal] {
        var refusals: [Refusal] = []
        let length = canonical.secret.scalarCount
        if length < minimum {
            refusals.append(Refusal(field, .tooShort, ["min": .integer(minimum), "actual": .integer(length)]))
        }
        if length > maximum {
            refusals.append(Refusal(field, .tooLong, ["max": .integer(maximum), "actual": .integer(length)]))
        }
        canonical.secret.caseFolded().withBytes { password in
            if Blocklist.contains(password) {
                refusals.append(Refusal(field, .common))
            }
            if context.contains(where: { Self.equals(password, $0) }) {
                refusals.append(Refusal(field, .containsIdentifier))
            }
        }
        return refusals
    }

    /// Whether a case-folded password equals the word, which need not be case-folded.
    private static func equals(_ password: UnsafeRawBufferPointer, _ word: String) -> Bool {
        // ASCII needs no normalisation, and a direct comparison is faster. This runs for each word of the context.
        if word.utf8.allSatisfy({ $0 < 0x80 }) {
            return word.utf8.count == password.count
                && zip(word.utf8, password).allSatisfy { ((0x41...0x5A).contains($0) ? $0 | 0x20 : $0) == $1 }
        }
        return Secret(normalising: word).caseFolded().withBytes { $0.elementsEqual(password) }
    }
}
