extension String {
    /// The bytes that this text encodes in base32 (RFC 4648 §6). The text must be in capitals and without padding.
    package var base32Bytes: [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        let bits = flatMap { letter in
            let value = alphabet.firstIndex(of: letter)!
            return (0..<5).map { value >> (4 - $0) & 1 }
        }
        return stride(from: 0, to: bits.count - 7, by: 8).map { bits[$0..<$0 + 8].reduce(0) { $0 << 1 | UInt8($1) } }
    }
}
