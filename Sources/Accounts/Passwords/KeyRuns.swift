/// Detects runs along the alphabet, the digits, and the rows and columns of a QWERTY keyboard, in both directions.
enum KeyRuns {
    /// Whether the whole password consists of runs of at least three characters, such as `qwertyuiopasdfg`.
    ///
    /// Every longer run divides into runs of three to five characters, so only these are searched.
    static func compose(_ password: UnsafeRawBufferPointer) -> Bool {
        // Bit n: everything before the position n characters back consists of runs.
        var ends: UInt8 = 1
        for end in 0..<password.count {
            let isEnd = (3...5).contains { length in
                ends & 1 << (length - 1) != 0 && isRun(password[(end + 1 - length)...end])
            }
            ends = ends << 1 | (isEnd ? 1 : 0)
            if ends & 0b1_1111 == 0 { return false }
        }
        return !password.isEmpty && ends & 1 != 0
    }

    /// Whether these characters follow each other on one line, in one direction.
    private static func isRun(_ characters: Slice<UnsafeRawBufferPointer>) -> Bool {
        zip(characters, characters.dropFirst()).reduce(~0) { $0 & (steps[Step($1.0, $1.1)] ?? 0) } != 0
    }

    private struct Step: Hashable {
        let from: UInt8
        let to: UInt8

        /// The shifted character of a key counts as the unshifted one.
        init(_ from: UInt8, _ to: UInt8) {
            self.from = unshifted[from] ?? from
            self.to = unshifted[to] ?? to
        }
    }

    private static let cyclicLines = ["abcdefghijklmnopqrstuvwxyz", "0123456789"]

    private static let lines = [
        "`1234567890-=", "qwertyuiop[]\\", "asdfghjkl;'", "zxcvbnm,./",
        "1qaz", "2wsx", "3edc", "4rfv", "5tgb", "6yhn", "7ujm", "8ik,", "9ol.", "0p;/",
        "1q2w3e4r5t6y7u8i9o0p", "qawsedrftgyhujikolp", "azsxdcfvgbhnjmk,l.;/",
    ]

    private static let unshifted = Dictionary(
        uniqueKeysWithValues: zip(#"~!@#$%^&*()_+{}|:"<>?"#.utf8, #"`1234567890-=[]\;',./"#.utf8)
    )

    /// For two neighbouring characters, the lines that lead from the first to the second: two bits for each line, one
    /// for each direction. The highest bit is set for the same key twice.
    private static let steps: [Step: UInt64] = {
        var steps: [Step: UInt64] = [:]
        for (number, line) in (lines + cyclicLines.map { $0 + $0.prefix(1) }).enumerated() {
            for (from, to) in zip(line.utf8, line.utf8.dropFirst()) {
                steps[Step(from, to), default: 0] |= 1 << (2 * number)
                steps[Step(to, from), default: 0] |= 2 << (2 * number)
            }
        }
        for key in UInt8(ascii: "!")...UInt8(ascii: "~") {
            steps[Step(key, key), default: 0] |= 1 << 63
        }
        return steps
    }()
}
