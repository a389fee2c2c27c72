/// Detects runs. The characters of a run follow each other in one direction on a line: the alphabet, the digits, or a
/// row, a column or a zigzag of two rows of a QWERTY keyboard. A repetition of one key, except the space bar, is also a
/// run.
enum KeyRuns {
    /// Whether the whole case-folded password consists of runs of at least three characters, such as `qwertyuiopasdfg`.
    ///
    /// Searches only for runs of three to five characters, because every longer run can be divided into such runs.
    static func compose(_ password: UnsafeRawBufferPointer) -> Bool {
        // Bit n is set if the first `end - n` characters consist of runs.
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

    /// Whether the characters follow each other on one of the lines in one direction, or are all on the same key.
    private static func isRun(_ characters: Slice<UnsafeRawBufferPointer>) -> Bool {
        zip(characters, characters.dropFirst()).reduce(~0) { $0 & (steps[Step($1.0, $1.1)] ?? 0) } != 0
    }

    private struct Step: Hashable {
        let from: UInt8
        let to: UInt8

        /// A sign that is typed with Shift, such as `!`, counts as the character of the same key without Shift.
        init(_ from: UInt8, _ to: UInt8) {
            self.from = unshifted[from] ?? from
            self.to = unshifted[to] ?? to
        }
    }

    /// Lines that begin again after their end.
    private static let cyclicLines = ["abcdefghijklmnopqrstuvwxyz", "0123456789"]

    /// Rows, columns, and zigzags of two rows.
    private static let lines = [
        "`1234567890-=", "qwertyuiop[]\\", "asdfghjkl;'", "zxcvbnm,./",
        "1qaz", "2wsx", "3edc", "4rfv", "5tgb", "6yhn", "7ujm", "8ik,", "9ol.", "0p;/",
        "1q2w3e4r5t6y7u8i9o0p", "qawsedrftgyhujikolp", "azsxdcfvgbhnjmk,l.;/",
    ]

    private static let unshifted = Dictionary(
        uniqueKeysWithValues: zip(#"~!@#$%^&*()_+{}|:"<>?"#.utf8, #"`1234567890-=[]\;',./"#.utf8)
    )

    /// For each step between two characters, a set of bits. Each line has two bits: one is set if the step goes forward
    /// on this line, the other if it goes backward. The highest bit is set if both characters are on the same key.
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
