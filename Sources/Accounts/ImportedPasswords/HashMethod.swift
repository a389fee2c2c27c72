/// A method by which other systems hash passwords. Each method has a file in this folder; ``ImportedHash/methods``
/// lists them.
protocol HashMethod: Sendable {
    /// Reads a hash as the tools of other systems write it. Returns nil if the hash is of another method.
    static func read(_ text: String) throws(ImportedHashError) -> ImportedHash?

    /// Restores a method from its ``kind`` and salt. Returns nil if the kind is of another method, is malformed, or
    /// costs more than ``read(_:)`` accepts.
    init?(kind: Substring, salt: [UInt8])

    /// The algorithm and its cost, in ASCII without `|`. Hashes of the same kind take the same time for passwords of
    /// the same length.
    var kind: String { get }
    var salt: [UInt8] { get }

    /// Hashes a password, and returns the bytes of the result; nil if the method cannot hash the password, for example
    /// because the password is too long.
    ///
    /// A call may take seconds, so run it on a worker of ``HashingPool``.
    func output(of password: borrowing Secret) -> Secret?
}

/// A password hash of another system.
package struct ImportedHash: Sendable {
    let method: any HashMethod
    /// The result of the method for the correct password.
    let output: [UInt8]

    static let methods: [any HashMethod.Type] = [CryptHash.self, PBKDF2Hash.self, ScryptHash.self, ForeignArgon2.self]

    /// The maximum length in bytes of the text of a hash.
    private static let maximumLength = 512

    /// The maximum working memory of a method in bytes.
    static let maximumMemory = 128 * 1024 * 1024

    init(_ method: any HashMethod, output: [UInt8]) {
        (self.method, self.output) = (method, output)
    }

    /// Reads a hash as the tools of other systems write it. Throws `tooCostly` if a comparison with a password would
    /// cost too much, so that no request makes such a comparison.
    package init(_ text: String) throws(ImportedHashError) {
        guard text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x7C })
        else { throw .malformed }
        for method in Self.methods {
            if let hash = try method.read(text) {
                self = hash
                return
            }
        }
        throw .unsupported
    }
}

/// The reason why a hash of another system is refused.
package enum ImportedHashError: Error, Hashable, Sendable {
    /// No method of ``ImportedHash/methods`` can compute such a hash.
    case unsupported
    case malformed
    /// The cost is above a maximum of the method. The maxima keep the time of a sign-in below about a second, for a
    /// password of usual length, and its memory below about 128 MiB.
    case tooCostly
}
