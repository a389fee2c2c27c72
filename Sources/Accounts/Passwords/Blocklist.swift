/// Passwords that are tried first, whoever they belong to.
enum Blocklist {
    /// Whether the whole password, case-folded, is a common one, a repetition, or made of runs, or a common one that was
    /// dressed up with a few digits and marks. Linear in its length.
    static func contains(_ password: UnsafeRawBufferPointer) -> Bool {
        CommonPasswords.shared.contains(password) || isRepetition(password, ofUpTo: 8) || KeyRuns.compose(password)
            || isDressed(password)
    }

    /// Up to ten digits, marks and blanks make no other password of a common one, wherever they stand: a guesser tries
    /// `password1234567` and `Password-Password` right after the word itself.
    private static func isDressed(_ password: UnsafeRawBufferPointer) -> Bool {
        let letters = Secret(capacity: password.count) { room in
            var count = 0
            for byte in password where byte >= 0x80 || (0x61...0x7A).contains(byte) {
                room[count] = byte
                count += 1
            }
            return count
        }
        guard (1...10).contains(password.count - letters.count) else { return false }
        return letters.withBytes { letters in
            CommonPasswords.shared.contains(letters) || isRepetition(letters, ofUpTo: 1) || KeyRuns.compose(letters)
        }
    }

    /// One block over and over, the last copy perhaps cut short: any block of so many characters, or a longer one that is
    /// common itself.
    private static func isRepetition(_ password: UnsafeRawBufferPointer, ofUpTo most: Int) -> Bool {
        let lengths = 1..<max(1, min(password.count / 2, CommonPasswords.shared.longest) + 1)
        return lengths.contains { length in
            guard password.dropFirst(length).elementsEqual(password.dropLast(length)) else { return false }
            let block = password.prefix(length)
            return block.count { $0 & 0b1100_0000 != 0b1000_0000 } <= most || CommonPasswords.shared.contains(block)
        }
    }
}
