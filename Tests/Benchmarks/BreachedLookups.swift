internal import Foundation

@testable import Accounts

/// Measures the lookup of a password in a file of five million hashes: with the whole file in the page cache of the
/// operating system, and with none of it, so that each read goes to the disk.
enum BreachedLookups {
    private static let lines = 5_000_000
    private static let lookups = 2000

    static func measure() throws {
        // `scripts/bench` sets TMPDIR to a folder on a disk.
        let path = FileManager.default.temporaryDirectory.appending(path: "breached.txt").path
        try write(to: path)
        defer { unlink(path) }
        let clock = ContinuousClock()
        var start = clock.now
        let list = try BreachedList(path)
        let opening = clock.now - start

        var table = Table("pages of the file", "median µs", "p99 µs", "lookups a second")
        for (name, isCold) in [("on the disk", true), ("in memory", false)] {
            var times: [Duration] = []
            for number in 0..<lookups {
                if isCold { try dropPages(of: path) }
                // Every second password is in the list.
                let password = secret(number.isMultiple(of: 2) ? "known \(number)" : "unknown \(number)")
                start = clock.now
                let isBreached = try list.contains(password)
                times.append(clock.now - start)
                precondition(isBreached == number.isMultiple(of: 2), "the list answers wrongly")
            }
            let sum = times.reduce(.zero, +)
            times.sort()
            table.append(
                name,
                times[lookups / 2].text(in: .microseconds(1)),
                times[lookups * 99 / 100].text(in: .microseconds(1)),
                String(format: "%.0f", Double(lookups) / (sum / .seconds(1)))
            )
        }
        table.print(
            under: """
                Looking up a password among \(lines) hashes, on one thread; the check at the start took \
                \(opening.text(in: .milliseconds(1))) ms
                """
        )
    }

    private static func secret(_ text: String) -> Secret {
        Secret(capacity: text.utf8.count) { buffer in
            buffer.copyBytes(from: text.utf8)
            return text.utf8.count
        }
    }

    /// Writes the sorted hashes of the passwords `known 0`, `known 1` and so on.
    private static func write(to path: String) throws {
        var hashes = (0..<lines).map { number in
            BreachedHash.sha1.digits(of: secret("known \(number)")).withBytes { String(decoding: $0, as: UTF8.self) }
        }
        hashes.sort()
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw CocoaError(.fileWriteUnknown) }
        for chunk in stride(from: 0, to: lines, by: 100_000) {
            let text = hashes[chunk..<min(lines, chunk + 100_000)].map { "\($0):\(1 + $0.utf8.count)\r\n" }.joined()
            try file.write(contentsOf: Data(text.utf8))
        }
        // The operating system cannot drop pages that are not on the disk yet.
        try file.synchronize()
        try file.close()
    }

    private static func dropPages(of path: String) throws {
        guard let file = FileHandle(forReadingAtPath: path) else { throw CocoaError(.fileReadUnknown) }
        posix_fadvise(file.fileDescriptor, 0, 0, POSIX_FADV_DONTNEED)
        try file.close()
    }
}
