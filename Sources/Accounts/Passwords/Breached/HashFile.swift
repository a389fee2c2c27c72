internal import Foundation

/// Why a file cannot be used as a list of hashes. The descriptions never quote the file.
package enum HashFileError: Error, Hashable, CustomStringConvertible {
    /// A system call on the file failed with this `errno`.
    case unreadable(Int32)
    case notRegular
    case empty
    /// The line is neither `HASH` nor `HASH:COUNT`, or its hash has fewer than 10 digits, more than 40, or another
    /// number of digits than the hash in the first line.
    case malformed(Place)
    case unsorted(Place)
    /// The number of digits in a line does not show which hash function was used.
    case ambiguous(digits: Int)
    /// The hashes in the file have more digits than a hash of the stated function.
    case tooManyDigits(Int, BreachedHash)
    /// The file has become shorter since it was opened.
    case truncated

    package enum Place: Hashable, Sendable, CustomStringConvertible {
        /// The number of the line, from 1.
        case line(Int)
        /// The offset in the file of a byte of the line.
        case byte(Int)

        package var description: String {
            switch self {
            case .line(let number): "line \(number)"
            case .byte(let offset): "the line at byte \(offset)"
            }
        }
    }

    package var description: String {
        switch self {
        case .unreadable(let code): "the file cannot be read: \(String(cString: strerror(code)))"
        case .notRegular: "the file is not a regular file"
        case .empty: "the file is empty"
        case .malformed(let place):
            """
            \(place) is malformed; use HASH or HASH:COUNT in every line, with 10 to 40 hexadecimal digits, as many as \
            in the first line
            """
        case .unsorted(let place): "\(place) is not in order; sort the file by hash, for example with \"LC_ALL=C sort\""
        case .ambiguous(let digits):
            "hashes of \(digits) digits may be SHA-1 or NTLM hashes; write \"sha1:\" or \"ntlm:\" before the path"
        case .tooManyDigits(let digits, let hash):
            "hashes of \(digits) digits are not \(hash.rawValue) hashes, which have \(hash.digitCount)"
        case .truncated: "the file has become shorter since the server opened it"
        }
    }
}

/// A sorted text file of hashes in hexadecimal, one in each line, as `HASH` or `HASH:COUNT`. A search reads only some
/// blocks of the file.
///
/// The file is read with `pread` and not mapped: if a mapped file becomes shorter or its disk fails, an access to the
/// missing part kills the process with SIGBUS, while `pread` returns 0 or an error. The kernel caches the same pages
/// either way. If the path later names another file, the opened one is still used.
final class HashFile: Sendable {
    /// The number of digits of the hash in each line.
    let digitCount: Int
    private let size: Int
    private let file: OpenFile

    /// The number of bytes that a search reads at once: about 90 lines with whole SHA-1 hashes.
    private static let blockLength = 4096
    /// The number of bytes at the beginning of the file in which every line is checked when the file is opened. In the
    /// rest of the file, ``checkedBlocks`` blocks and the last block are checked.
    private static let checkedLength = 1 << 20
    private static let checkedBlocks = 256
    private static let newline = UInt8(ascii: "\n")

    /// Opens the file and checks the format and the order of its lines: all of them up to ``checkedLength``, and
    /// samples of the rest.
    init(path: String) throws(HashFileError) {
        file = try OpenFile(at: path)
        size = try file.size()
        guard size > 0 else { throw .empty }
        let beginning = try file.read(0..<min(size, Self.blockLength))
        guard let line = HashLine(beginning.prefix { $0 != Self.newline }) else { throw .malformed(.line(1)) }
        digitCount = line.hash.count
        try check()
    }

    private func check() throws(HashFileError) {
        var ranges = [0..<min(size, Self.checkedLength)]
        if size > Self.checkedLength {
            let distance = (size - Self.checkedLength) / Self.checkedBlocks
            let lastStart = size - Self.blockLength
            // No block extends past the end of the file.
            let starts = (0..<Self.checkedBlocks).map { min(Self.checkedLength + distance * $0, lastStart) }
            ranges += (starts + [lastStart]).map { $0..<$0 + Self.blockLength }
        }
        var (last, end) = ([] as [UInt8], 0)
        for range in ranges {
            // If the range overlaps with the previous range, its first line may come before the last line of the
            // previous range. So the order of these two lines is not checked.
            if range.lowerBound < end { last = [] }
            let block = try block(range, in: 0..<size)
            for (index, line) in block.lines.enumerated() {
                let place: HashFileError.Place =
                    range.lowerBound == 0 ? .line(index + 1) : .byte(block.start + line.startIndex)
                guard let hash = HashLine(line)?.hash, hash.count == digitCount else { throw .malformed(place) }
                let digits = hash.map(\.upperCased)
                if digits.lexicographicallyPrecedes(last) { throw .unsorted(place) }
                last = digits
            }
            end = range.upperBound
        }
    }

    /// Whether the file contains the hash, or its first digits if the lines are shorter. Blocks until the disk has
    /// answered.
    ///
    /// Hashes are uniformly distributed, so the value of a hash shows approximately where it is in the file. Each read
    /// is at this estimate, except every third read, which is in the middle of the part of the file that is left. So
    /// the number of reads is limited for any distribution.
    ///
    /// - Parameter hash: the digits of the whole hash, in upper case.
    func contains(_ hash: borrowing Secret) throws(HashFileError) -> Bool {
        try hash.withBytes { hash throws(HashFileError) in
            let hash = hash.prefix(digitCount)
            let position = Self.position(of: hash)
            // If the file contains the hash, its line is in the range `rest`, which consists of whole lines.
            var (rest, positions) = (0..<size, 0.0...1.0)
            for attempt in 1...Self.maximumReads where !rest.isEmpty {
                let share = (position - positions.lowerBound) / (positions.upperBound - positions.lowerBound)
                let isGuess = !attempt.isMultiple(of: 3) && share >= 0 && share <= 1
                let middle = rest.lowerBound + Int(Double(rest.count) * (isGuess ? share : 0.5))
                let start = max(rest.lowerBound, min(middle, rest.upperBound - 1) - Self.blockLength / 2)
                let block = try block(start..<min(rest.upperBound, start + Self.blockLength), in: rest)
                let lines = try block.lines.map { line throws(HashFileError) in
                    guard let digits = HashLine(line)?.hash, digits.count == digitCount else {
                        throw .malformed(.byte(block.start + line.startIndex))
                    }
                    return digits.map(\.upperCased)
                }
                guard let first = lines.first, let last = lines.last else { throw .malformed(.byte(start)) }
                if hash.lexicographicallyPrecedes(first) {
                    rest = rest.lowerBound..<block.start
                    positions = positions.lowerBound...max(positions.lowerBound, Self.position(of: first))
                } else if last.lexicographicallyPrecedes(hash) {
                    rest = block.end..<rest.upperBound
                    positions = min(positions.upperBound, Self.position(of: last))...positions.upperBound
                } else {
                    return lines.contains { $0.elementsEqual(hash) }
                }
            }
            if rest.isEmpty { return false }
            // No sorted file needs so many reads.
            throw .unsorted(.byte(rest.lowerBound))
        }
    }

    /// The maximum number of reads of one search. A third of the reads halve what is left of the file, which is enough
    /// for 2^40 blocks.
    private static let maximumReads = 120

    /// The value of a hash as a fraction from 0 to 1, from its first 13 digits.
    private static func position(of hash: some Sequence<UInt8>) -> Double {
        hash.prefix(13).reduce((0.0, 1.0)) { sum, digit in
            let value = digit < 0x40 ? digit - 0x30 : digit - 0x37
            return (sum.0 + Double(value) * sum.1 / 16, sum.1 / 16)
        }.0
    }

    /// The complete lines in a range of the file.
    private struct Block {
        /// The offsets in the file where the first line begins and the last one ends.
        let start, end: Int
        /// The lines without their newlines. Their indices are offsets from `start`.
        let lines: [ArraySlice<UInt8>]
    }

    /// Reads a range of the file and returns the complete lines in it.
    ///
    /// - Parameter rest: a part of the file that consists of whole lines and includes the range.
    private func block(_ range: Range<Int>, in rest: Range<Int>) throws(HashFileError) -> Block {
        let bytes = try file.read(range)
        var (first, end) = (0, bytes.count)
        if range.lowerBound > rest.lowerBound {
            // The first line may have begun before the range.
            guard let newline = bytes.firstIndex(of: Self.newline) else { throw .malformed(.byte(range.lowerBound)) }
            first = newline + 1
        }
        if range.upperBound < rest.upperBound {
            guard let newline = bytes.lastIndex(of: Self.newline), newline >= first else {
                throw .malformed(.byte(range.lowerBound))
            }
            end = newline + 1
        }
        let content = Array(bytes[first..<end])
        var lines = content.split(separator: Self.newline, omittingEmptySubsequences: false)
        if content.last == Self.newline { lines.removeLast() }
        return Block(start: range.lowerBound + first, end: range.lowerBound + end, lines: lines)
    }
}

/// The sole owner of a file descriptor.
private final class OpenFile: Sendable {
    private let descriptor: Int32

    init(at path: String) throws(HashFileError) {
        // Without O_NONBLOCK, opening a named pipe would block. Regular files ignore the flag.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(errno) }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    func size() throws(HashFileError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        return Int(status.st_size)
    }

    /// Throws `truncated` if the file ends before the range does.
    func read(_ range: Range<Int>) throws(HashFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        var done = 0
        while done < range.count {
            let length = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(range.lowerBound + done))
            }
            if length > 0 {
                done += length
            } else if length == 0 {
                throw .truncated
            } else if errno != EINTR {
                throw .unreadable(errno)
            }
        }
        return bytes
    }
}

/// A line of the file: the hash and, optionally, a colon and the number of times that the password was seen. The line
/// may end with a carriage return.
private struct HashLine {
    let hash: ArraySlice<UInt8>

    init?(_ line: ArraySlice<UInt8>) {
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        hash = line.prefix { (0x30...0x39).contains($0) || (0x41...0x46).contains($0 & 0xDF) }
        let suffix = line[hash.endIndex...]
        guard (10...40).contains(hash.count) else { return nil }
        if suffix.isEmpty { return }
        guard suffix.first == UInt8(ascii: ":"), (2...20).contains(suffix.count),
            suffix.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
    }
}

extension UInt8 {
    /// The upper-case form of a hexadecimal digit in ASCII.
    fileprivate var upperCased: UInt8 { self >= 0x61 ? self & 0xDF : self }
}
