/// Detects passwords that attackers try first.
enum Blocklist {
    /// Whether a case-folded password is common, repeats a short or common block, or consists of runs (``KeyRuns``).
    /// Also detects simple forms of these with up to 10 added digits, punctuation marks or spaces. Takes time linear in
    /// the length of the password.
    static func contains(_ password: UnsafeRawBufferPointer) -> Bool {
        CommonPasswords.shared.contains(password) || isRepetition(password, ofUpTo: 8) || KeyRuns.compose(password)
            || isDecorated(password)
    }

    /// Whether 1 to 10 characters of the password are ASCII digits, punctuation marks or spaces, and the rest is
    /// common, repeats one character or a common password, or consists of runs. Attackers try `password1234567` and
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

    /// Whether the password repeats one block, of which the last copy may be incomplete. The block has at most `limit`
    /// characters, or is itself a common password.
    private static func isRepetition(_ password: UnsafeRawBufferPointer, ofUpTo limit: Int) -> Bool {
        let lengths = 1..<max(1, min(password.count / 2, CommonPasswords.longest) + 1)
        return lengths.contains { length in
            guard password.dropFirst(length).elementsEqual(password.dropLast(length)) else { return false }
            let block = password.prefix(length)
            return block.count { $0 & 0b1100_0000 != 0b1000_0000 } <= limit || CommonPasswords.shared.contains(block)
        }
    }
}
