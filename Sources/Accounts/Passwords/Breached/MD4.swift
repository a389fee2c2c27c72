/// MD4 (RFC 1320), which is not secure any more. Only lists of breached passwords with NTLM hashes need it.
enum MD4 {
    /// Returns the digest, which has 16 bytes. Copies the message only to memory that is wiped.
    static func digest(of message: borrowing Secret) -> Secret {
        let padded = padded(message)
        var (a, b, c, d): (UInt32, UInt32, UInt32, UInt32) = (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476)
        padded.withBytes { bytes in
            for block in stride(from: 0, to: bytes.count, by: 64) {
                let before = (a, b, c, d)
                for (round, rules) in rounds.enumerated() {
                    for (index, position) in rules.order.enumerated() {
                        let word = bytes.loadUnaligned(fromByteOffset: block + 4 * position, as: UInt32.self)
                        let sum = a &+ mixed(b, c, d, in: round) &+ UInt32(littleEndian: word) &+ rules.constant
                        let shift = rules.shifts[index % 4]
                        (a, b, c, d) = (d, sum << shift | sum >> (32 - shift), b, c)
                    }
                }
                (a, b, c, d) = (a &+ before.0, b &+ before.1, c &+ before.2, d &+ before.3)
            }
        }
        return Secret(capacity: 16) { buffer in
            for (index, word) in [a, b, c, d].enumerated() {
                buffer.storeBytes(of: word.littleEndian, toByteOffset: 4 * index, as: UInt32.self)
            }
            return 16
        }
    }

    /// The message, a one bit, zero bits, and the length of the message in bits: together a multiple of 64 bytes (§3.1,
    /// §3.2).
    private static func padded(_ message: borrowing Secret) -> Secret {
        let length = (message.count + 8) / 64 * 64 + 64
        return Secret(capacity: length) { buffer in
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            message.withBytes { buffer.copyMemory(from: $0) }
            buffer[message.count] = 0x80
            let bits = UInt64(message.count) * 8
            buffer.storeBytes(of: bits.littleEndian, toByteOffset: length - 8, as: UInt64.self)
            return length
        }
    }

    /// The auxiliary functions F, G and H of §3.4, for round 0, 1 and 2.
    private static func mixed(_ x: UInt32, _ y: UInt32, _ z: UInt32, in round: Int) -> UInt32 {
        switch round {
        case 0: x & y | ~x & z
        case 1: x & y | x & z | y & z
        default: x ^ y ^ z
        }
    }

    /// For each round: the order of the words, the shifts, and the constant (§3.4).
    private static let rounds: [(order: [Int], shifts: [UInt32], constant: UInt32)] = [
        (Array(0..<16), [3, 7, 11, 19], 0),
        ([0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15], [3, 5, 9, 13], 0x5A82_7999),
        ([0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15], [3, 9, 11, 15], 0x6ED9_EBA1),
    ]
}
