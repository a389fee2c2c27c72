internal import Crypto
internal import Foundation

/// The function that computed the hashes in a list of breached passwords.
package enum BreachedHash: String, CaseIterable, Sendable {
    case sha1
    /// MD4 of the password in UTF-16, little endian.
    case ntlm

    /// The number of hexadecimal digits of a whole hash.
    var digitCount: Int {
        switch self {
        case .sha1: 40
        case .ntlm: 32
        }
    }

    /// The hash of a password, as upper-case hexadecimal digits. The password must be in canonical form
    /// (``PasswordRules/canonical(_:field:)``).
    func digits(of password: borrowing Secret) -> Secret {
        switch self {
        case .sha1:
            var sha1 = Insecure.SHA1()
            password.withBytes { sha1.update(bufferPointer: $0) }
            return Secret(copying: sha1.finalize()).hexadecimal()
        case .ntlm:
            return MD4.digest(of: password.utf16()).hexadecimal()
        }
    }
}

extension Secret {
    /// Wipes the local copy of the digest, but cannot wipe that of the caller.
    fileprivate init(copying digest: Insecure.SHA1.Digest) {
        var digest = digest
        self.init(capacity: Insecure.SHA1.byteCount) { buffer in
            withUnsafeMutableBytes(of: &digest) { bytes in
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(Insecure.SHA1.byteCount)))
                explicit_bzero(bytes.baseAddress!, bytes.count)
            }
            return Insecure.SHA1.byteCount
        }
    }

    /// The text in UTF-16, little endian. The bytes must be valid UTF-8.
    fileprivate borrowing func utf16() -> Secret {
        Secret(capacity: 2 * count) { buffer in
            var written = 0
            _ = withBytes { bytes in
                bytes.visitScalars { scalar in
                    for unit in scalar.utf16 {
                        buffer.storeBytes(of: unit.littleEndian, toByteOffset: written, as: UInt16.self)
                        written += 2
                    }
                }
            }
            return written
        }
    }

    fileprivate borrowing func hexadecimal() -> Secret {
        Secret(capacity: 2 * count) { buffer in
            withBytes { bytes in
                for (index, byte) in bytes.enumerated() {
                    buffer[2 * index] = Self.digit(byte >> 4)
                    buffer[2 * index + 1] = Self.digit(byte & 15)
                }
            }
            return 2 * count
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
