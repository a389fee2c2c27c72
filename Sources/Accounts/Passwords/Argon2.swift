internal import CArgon2
internal import Foundation

/// Argon2id, version 0x13 (RFC 9106), computed by libargon2 on the calling thread.
///
/// One call takes tens of milliseconds, so run it on a worker of ``HashingPool``.
package enum Argon2 {
    /// Computes a new hash with a random 16-byte salt and a 32-byte tag.
    static func hash(
        _ password: borrowing Secret,
        with parameters: Argon2Parameters,
        pepper: Pepper? = nil,
        in arena: Arena
    ) throws(Argon2Error) -> PHCString {
        let salt = [UInt8].random(count: 16)
        let tag = try tag(of: password, salt: salt, key: pepper?.key ?? [], parameters: parameters, in: arena)
        return PHCString(parameters: parameters, keyID: pepper?.id, salt: salt, tag: tag.withBytes(Array.init))
    }

    /// Returns whether `candidate` is the password that was hashed. Compares the tags in constant time.
    ///
    /// - Parameter pepper: the pepper with the id ``PHCString/keyID``; nil if the hash has none.
    static func verify(
        _ candidate: borrowing Secret,
        against phc: PHCString,
        pepper: Pepper? = nil,
        in arena: Arena
    ) throws(Argon2Error) -> Bool {
        precondition(phc.keyID == pepper?.id, "a hash must be verified with its own pepper")
        let tag = try tag(
            of: candidate,
            salt: phc.salt,
            key: pepper?.key ?? [],
            parameters: phc.parameters,
            lanes: phc.parallelism,
            length: phc.tag.count,
            in: arena
        )
        return tag.withBytes { $0.equalsInConstantTime(phc.tag) }
    }

    /// Computes the test vector of RFC 9106 §5.3, and throws `ARGON2_VERIFY_MISMATCH` if the result differs from the
    /// expected tag.
    package static func selfTest() throws(Argon2Error) {
        let expected: [UInt8] = [
            0x0d, 0x64, 0x0d, 0xf5, 0x8d, 0x78, 0x76, 0x6c, 0x08, 0xc0, 0x37, 0xa3, 0x4a, 0x8b, 0x53, 0xc9,
            0xd0, 0x1e, 0xf0, 0x45, 0x2d, 0x75, 0xb6, 0x5e, 0xb5, 0x25, 0x20, 0xe9, 0x6b, 0x01, 0xe6, 0x59,
        ]
        let tag = try tag(
            of: Secret(capacity: 32) { buffer in
                buffer.initializeMemory(as: UInt8.self, repeating: 1)
                return buffer.count
            },
            salt: Array(repeating: 2, count: 16),
            key: Array(repeating: 3, count: 8),
            associatedData: Array(repeating: 4, count: 12),
            parameters: Argon2Parameters(memoryKiB: 32, iterations: 3),
            lanes: 4,
            in: Arena(kibibytes: 32)
        )
        guard tag.withBytes({ $0.elementsEqual(expected) }) else {
            throw Argon2Error(code: ARGON2_VERIFY_MISMATCH.rawValue)
        }
    }

    /// The path of the libargon2 that the dynamic loader has chosen; `libargon2` if it is not found in the memory map.
    package static let library: String = {
        // String(contentsOfFile:) would read only the first page of this file.
        let file = FileHandle(forReadingAtPath: "/proc/self/maps")
        let maps = String(decoding: file?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
        let line = maps.split(separator: "\n").first { $0.contains("/libargon2") }
        return line.flatMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } } ?? "libargon2"
    }()

    /// Whether the loaded libargon2 was built for this generation of processors. A build for all processors is slower.
    package static var isForThisProcessor: Bool { library.contains("/glibc-hwcaps/") }

    /// Computes the Argon2id tag of a password with libargon2. The password may contain NUL.
    ///
    /// - Parameter length: the length of the tag in bytes.
    static func tag(
        of password: borrowing Secret,
        salt: [UInt8],
        key: [UInt8] = [],
        associatedData: [UInt8] = [],
        parameters: Argon2Parameters,
        lanes: Int = 1,
        length: Int = 32,
        in arena: Arena
    ) throws(Argon2Error) -> Secret {
        try Secret(capacity: length) { tag throws(Argon2Error) in
            let code = password.withBytes { password in
                arena.withMemory { memory in
                    argon2id_within(
                        memory.baseAddress,
                        memory.count,
                        UInt32(parameters.memoryKiB),
                        UInt32(parameters.iterations),
                        UInt32(lanes),
                        password.baseAddress,
                        password.count,
                        salt,
                        salt.count,
                        key,
                        key.count,
                        associatedData,
                        associatedData.count,
                        tag.baseAddress,
                        length
                    )
                }
            }
            guard code == ARGON2_OK.rawValue else { throw Argon2Error(code: code) }
            return length
        }
    }
}

/// An error code of libargon2, which is negative. The description contains the message of libargon2.
package struct Argon2Error: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Int32

    package var description: String {
        "argon2: \(String(cString: argon2_error_message(code))) (\(code))"
    }
}
