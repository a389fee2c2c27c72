/// A secret input of Argon2id that is derived from a key of the ``KeyRing`` and is not in the database. Without the
/// pepper, an attacker cannot search for the password of a stolen hash (NIST SP 800-63B-4 §3.1.1.2).
package struct Pepper: Sendable {
    /// Identifies the pepper, and is the `keyid` in the PHC string of a hash. This id is derived from the secret of the
    /// key. So if another key takes over the id of the key in `ACCOUNTS_KEYS`, its pepper has another id.
    let id: [UInt8]
    let key: [UInt8]
}

/// Libraries log values by printing their properties, so these types print none.
extension Pepper: CustomStringConvertible, CustomReflectable {
    package var description: String { "Pepper" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension KeyRing: CustomStringConvertible, CustomReflectable {
    package var description: String { "KeyRing" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension KeyRing {
    /// The pepper with which the hash was computed; nil if it was computed without one. Throws `unknownPepper` if the
    /// key ring lacks the key of the pepper. Without this key, this server cannot compare a password with the hash.
    package func pepper(of phc: PHCString) throws(HashingError) -> Pepper? {
        guard let id = phc.keyID else { return nil }
        guard let pepper = peppers.first(where: { $0.id == id }) else { throw .unknownPepper }
        return pepper
    }
}

extension PHCString {
    /// Whether a new hash of the same password would have another cost or another pepper. If true, the service should
    /// hash the password again at the next sign-in, when it knows the password.
    ///
    /// - Parameter pepper: the pepper of new hashes. If it is nil, a hash with a pepper needs no new hash for that
    ///   reason.
    package func needsRehash(for parameters: Argon2Parameters, with pepper: Pepper?) -> Bool {
        self.parameters != parameters || parallelism != 1 || pepper.map { $0.id != keyID } ?? false
    }
}
