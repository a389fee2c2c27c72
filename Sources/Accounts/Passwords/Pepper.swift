/// A secret input of Argon2id that is not in the database, so that nobody can search a stolen hash without the key
/// ring (NIST SP 800-63B-4 §3.1.1.2).
package struct Pepper: Sendable {
    /// Identifies the pepper; the PHC string of a hash contains it as `keyid`. It is derived from the key, so another
    /// key under the same name in the ring is never mistaken for it.
    let id: [UInt8]
    let key: [UInt8]
}

extension KeyRing {
    /// The pepper with which the hash was computed; nil if it was computed without one. Throws `unknownPepper` if the
    /// ring lacks its key: then nobody can tell whether a password is wrong.
    package func pepper(of phc: PHCString) throws(HashingError) -> Pepper? {
        guard let id = phc.keyID else { return nil }
        guard let pepper = peppers.first(where: { $0.id == id }) else { throw .unknownPepper }
        return pepper
    }
}

extension PHCString {
    /// Whether a new hash of the same password would differ in its cost or in its pepper. The caller who has just
    /// verified the password then hashes it again.
    ///
    /// - Parameter pepper: the pepper of new hashes. Nil never removes a pepper.
    package func needsRehash(for parameters: Argon2Parameters, with pepper: Pepper?) -> Bool {
        self.parameters != parameters || parallelism != 1 || pepper.map { $0.id != keyID } ?? false
    }
}
