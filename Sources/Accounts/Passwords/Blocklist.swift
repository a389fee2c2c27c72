/// Detects passwords that attackers try first.
enum Blocklist {
    /// Whether the whole case-folded password is common, a repetition, or made of runs, also with a few added digits
    /// and punctuation marks. Takes time linear in its length.
    static func contains(_ password: UnsafeRawBufferPointer) -> Bool {
        CommonPasswords.shared.contains(password) || isRepetition(password, ofUpTo: 8) || KeyRuns.compose(password)
            || isDecorated(password)
    }

    /// Whether the password without its digits, punctuation marks and spaces is common, a repetition or made of runs.
    /// Up to ten of them, at any position, do not make a password strong: attackers try `password1234567` and
    /// `Password-Password` soon after the word itself.
    private static func isDecorated(_ password: UnsafeRawBufferPointer) -> Bool {
        let letters = Secret(capacity: password.count) { buffer in
            var count = 0
            for byte in password where byte >= 0x80 || (0x61...0x7A).contains(byte) {
                buffer[count] = byte
                count += 1
            }
            return count
        }
        guard (1...10).contains(password.count - letters.count) else { return false }
        return letters.withBytes { letters in
            CommonPasswords.shared.contains(letters) || isRepetition(letters, ofUpTo: 1) || KeyRuns.compose(letters)
        }
    }

    /// Whether the password is one repeated block, of which the last copy may be incomplete. The block has at most
    /// `limit` characters, or is itself a common password.
    private static func isRepetition(_ password: UnsafeRawBufferPointer, ofUpTo limit: Int) -> Bool {
        let lengths = 1..<max(1, min(password.count / 2, CommonPasswords.longest) + 1)
        return lengths.contains { length in
            guard password.dropFirst(length).elementsEqual(password.dropLast(length)) else { return false }
            let block = password.prefix(length)
            return block.count { $0 & 0b1100_0000 != 0b1000_0000 } <= limit || CommonPasswords.shared.contains(block)
        }
    }
}
