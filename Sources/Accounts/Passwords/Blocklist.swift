/// Passwords that are tried first, whoever they belong to.
enum Blocklist {
    /// Whether the whole password, case-folded, is a common one, a repetition, or made of runs. Linear in its length.
    static func contains(_ password: UnsafeRawBufferPointer) -> Bool {
        CommonPasswords.shared.contains(password) || isRepetition(password) || KeyRuns.compose(password)
    }

    /// One block over and over, the last copy perhaps cut short: any block of up to eight characters, or a longer one
    /// that is common itself.
    private static func isRepetition(_ password: UnsafeRawBufferPointer) -> Bool {
        let lengths = 1..<max(1, min(password.count / 2, CommonPasswords.shared.longest) + 1)
        return lengths.contains { length in
            guard password.dropFirst(length).elementsEqual(password.dropLast(length)) else { return false }
            let block = password.prefix(length)
            return block.count { $0 & 0b1100_0000 != 0b1000_0000 } <= 8 || CommonPasswords.shared.contains(block)
        }
    }
}
