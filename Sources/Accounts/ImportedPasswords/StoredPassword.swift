internal import Foundation

/// The hash of an account's password, as the table `credentials` stores it: the Argon2id hash of the password or, for
/// an ``ImportedHash``, of the output of the imported method.
///
/// For an imported hash, the text is `kind|base64 of the salt|$argon2id$…`: the table has the imported method and its
/// salt, but not the imported hash. So an attacker who has copied the table must compute Argon2id for each guess.
package struct StoredPassword: Hashable, Sendable {
    package let rawValue: String
    package let argon2: PHCString
    /// The kind of ``method``; nil if there is none.
    private let kind: Substring?
    private let salt: [UInt8]

    package init(_ argon2: PHCString) {
        (rawValue, self.argon2, kind, salt) = (argon2.rawValue, argon2, nil, [])
    }

    /// Makes the stored form of an imported hash.
    ///
    /// - Parameter argon2: the Argon2id hash of ``ImportedHash/output``.
    init(_ argon2: PHCString, over method: any HashMethod) {
        rawValue = "\(method.kind)|\(Data(method.salt).base64EncodedString())|\(argon2.rawValue)"
        (self.argon2, kind, salt) = (argon2, Substring(method.kind), method.salt)
    }

    package init?(_ text: String) {
        let parts = text.split(separator: "|", omittingEmptySubsequences: false)
        guard let argon2 = parts.last.flatMap({ try? PHCString(String($0)) }) else { return nil }
        if parts.count == 1 {
            self.init(argon2)
        } else {
            guard parts.count == 3, let salt = Data(base64Encoded: String(parts[1])),
                let method = ImportedHash.method(of: parts[0], salt: Array(salt))
            else { return nil }
            self.init(argon2, over: method)
        }
        guard rawValue == text else { return nil }
    }

    /// The imported method, whose output Argon2id hashes; nil if Argon2id hashes the password itself.
    var method: (any HashMethod)? { kind.flatMap { ImportedHash.method(of: $0, salt: salt) } }

    /// Whether the password must be hashed again when the person enters it, because its hash is imported, or differs
    /// from the given parameters or pepper (``PHCString/needsRehash(for:with:)``).
    func needsRehash(for parameters: Argon2Parameters, with pepper: Pepper?) -> Bool {
        kind != nil || argon2.needsRehash(for: parameters, with: pepper)
    }
}

extension ImportedHash {
    /// The method of that kind with that salt; nil if no method accepts them.
    static func method(of kind: Substring, salt: [UInt8]) -> (any HashMethod)? {
        methods.lazy.compactMap { $0.init(kind: kind, salt: salt) }.first
    }
}
