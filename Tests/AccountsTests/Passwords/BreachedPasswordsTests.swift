import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Breached passwords")
struct BreachedPasswordsTests {
    /// A list of the hashes of the passwords `known 0`, `known 1` and so on, in the format of the downloader.
    private static func list(of count: Int, digits: Int = 40, newline: String = "\r\n") -> String {
        let hashes = (0..<count).map { sha1("known \($0)").prefix(digits) }.sorted()
        return hashes.enumerated().map { "\($1):\($0 * $0 + 1)" }.joined(separator: newline) + newline
    }

    private static func contains(_ list: BreachedList, _ password: String) throws -> Bool {
        try list.contains(Secret(text: password))
    }

    private static func mistake(in text: String, _ prefix: String = "") throws -> HashFileError? {
        try withList(text) { path in
            do throws(HashFileError) {
                _ = try BreachedList(prefix + path)
                return nil
            } catch {
                return error
            }
        }
    }

    // MARK: Hashes

    @Test(arguments: [
        ("", "31D6CFE0D16AE931B73C59D7E0C089C0"), ("a", "BDE52CB31DE33E46245E05FBDBD6FB24"),
        ("abc", "A448017AAF21D8525FC10AE87AA6729D"), ("message digest", "D9130A8164549FE818874806E1C7014B"),
        ("abcdefghijklmnopqrstuvwxyz", "D79E1C308AA5BBCDEEA8ED63DF412DA9"),
        (
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "043F8582F241DB351CE627E153E7F0E4"
        ),
        (String(repeating: "1234567890", count: 8), "E33B4DDC9C38F2199C3E7B164FCC0536"),
    ])
    func `MD4 gives the known answers of RFC 1320`(message: String, digest: String) {
        let bytes = MD4.digest(of: Secret(text: message)).withBytes { Array($0) }
        #expect(bytes.map { String(format: "%02X", $0) }.joined() == digest)
    }

    @Test(arguments: [
        (BreachedHash.sha1, "password", "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8"),
        (.ntlm, "password", "8846F7EAEE8FB117AD06BDD830B7586C"), (.ntlm, "", "31D6CFE0D16AE931B73C59D7E0C089C0"),
    ])
    func `the hash of a password has the known value`(hash: BreachedHash, password: String, digits: String) {
        let found = hash.digits(of: Secret(text: password)).withBytes { Array($0) }
        #expect(String(decoding: found, as: UTF8.self) == digits && found.count == hash.digitCount)
    }

    @Test(arguments: ["é", "한국", "🦊 fox", String(repeating: "🦊é한x", count: 40)])
    func `NTLM hashes UTF-16, little endian`(password: String) {
        let units = password.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let expected = MD4.digest(of: Secret(bytes: units)).withBytes { $0.map { String(format: "%02X", $0) }.joined() }
        let found = BreachedHash.ntlm.digits(of: Secret(text: password)).withBytes { Array($0) }
        #expect(String(decoding: found, as: UTF8.self) == expected)
    }

    // MARK: The search

    @Test(arguments: [1, 2, 3, 100, 5000], ["\n", "\r\n"])
    func `every password of the list is found, and no other`(count: Int, newline: String) throws {
        try withList(Self.list(of: count, newline: newline)) { path in
            let list = try BreachedList(path)
            for number in 0..<count {
                guard try Self.contains(list, "known \(number)"), try !Self.contains(list, "unknown \(number)") else {
                    Issue.record("wrong answer for number \(number)")
                    return
                }
            }
        }
    }

    @Test func `the last line may have no line break, counts may be missing, and digits may be in lower case`() throws {
        let hashes = (0..<300).map { sha1("known \($0)").lowercased() }.sorted()
        try withList(hashes.joined(separator: "\n")) { path in
            let list = try BreachedList(path)
            for number in 0..<300 { #expect(try Self.contains(list, "known \(number)")) }
            #expect(try !Self.contains(list, "known 300"))
        }
    }

    @Test func `hashes that are not uniformly distributed are found`() throws {
        // All hashes begin with the same eleven digits.
        let lines = (0..<4000).map { String(format: "00000000001%029X:1", $0 * 3) }
        try withList(lines.joined(separator: "\n") + "\n") { path in
            let file = try HashFile(path: path)
            for number in stride(from: 0, to: 12_000, by: 31) {
                let digits = String(format: "00000000001%029X", number)
                guard try file.contains(Secret(text: digits)) == number.isMultiple(of: 3) else {
                    Issue.record("wrong answer for \(number)")
                    return
                }
            }
            for digit in ["0", "F"] {
                #expect(try !file.contains(Secret(text: String(repeating: digit, count: 40))))
            }
        }
    }

    @Test func `a list with NTLM hashes is recognised by its 32 digits`() throws {
        try withList("00000000000000000000000000000000:3\r\n8846F7EAEE8FB117AD06BDD830B7586C:9\r\n") { path in
            let list = try BreachedList(path)
            #expect(try Self.contains(list, "password"))
            #expect(try !Self.contains(list, "Password"))
        }
    }

    @Test(arguments: [10, 16, 32, 39, 40])
    func `a list may contain only the first digits of the hashes if the kind of hash is stated`(digits: Int) throws {
        try withList(Self.list(of: 1000, digits: digits)) { path in
            let list = try BreachedList("sha1:" + path)
            for number in 0..<1000 { #expect(try Self.contains(list, "known \(number)")) }
            #expect(try !Self.contains(list, "unknown"))
        }
        try withList("8846F7EAEE:9\n") { path in
            let list = try BreachedList("ntlm:" + path)
            #expect(try Self.contains(list, "password"))
        }
    }

    // MARK: Mistakes

    private static let (a, b) = (String(repeating: "A", count: 40), String(repeating: "B", count: 40))

    @Test(arguments: [
        ("", HashFileError.empty), ("\n", .malformed(.line(1))), ("hello\n", .malformed(.line(1))),
        ("\u{FEFF}\(a):1\n", .malformed(.line(1))), ("\(a):1\n\n", .malformed(.line(2))),
        ("\(a):1\n\(b):\n", .malformed(.line(2))), ("\(a):1\n\(b) 1\n", .malformed(.line(2))),
        ("\(a):1\n\(b.dropLast()):1\n", .malformed(.line(2))), ("\(a.prefix(9)):1\n", .malformed(.line(1))),
        ("\(a)A:1\n", .malformed(.line(1))), ("\(a):1\n\(b):1\n\(a):1\n", .unsorted(.line(3))),
        ("\(a):1\r\r\n", .malformed(.line(1))),
        ("\(a.prefix(20)):1\n", .ambiguous(digits: 20)),
    ])
    func `a malformed or unsorted file is refused with its line`(text: String, error: HashFileError) throws {
        #expect(try Self.mistake(in: text) == error)
    }

    @Test func `equal lines are accepted, because cut hashes may be equal`() throws {
        #expect(try Self.mistake(in: "\(Self.a):1\n\(Self.a):2\n") == nil)
    }

    @Test func `a list of whole SHA-1 hashes is refused as a list of NTLM hashes`() throws {
        #expect(try Self.mistake(in: "\(Self.a):1\n", "ntlm:") == .tooManyDigits(40, .ntlm))
        #expect(try Self.mistake(in: "\(Self.a):1\n", "sha1:") == nil)
    }

    @Test func `a file that is too long to be checked completely is checked in samples`() throws {
        let lines = (0..<60_000).map { String(format: "%040X:1", $0 + 1 << 20) }
        func mistake(_ change: (inout [String]) -> Void) throws -> HashFileError? {
            var lines = lines
            change(&lines)
            return try Self.mistake(in: lines.joined(separator: "\n") + "\n")
        }
        #expect(try mistake { _ in } == nil)
        #expect(try mistake { $0[7] = "x" } == .malformed(.line(8)))
        #expect(try mistake { $0.swapAt(0, 1) } == .unsorted(.line(2)))
        #expect(try mistake { $0[59_999] = "\(Self.a.dropLast()):1" } != nil)
        #expect(try mistake { $0.reverse() } == .unsorted(.line(2)))
        // The second half of the lines comes first.
        #expect(try mistake { $0 = Array($0[30_000...] + $0[..<30_000]) } != nil)
    }

    @Test(arguments: ["", "\n"])
    func `a valid list slightly longer than the part that is checked completely is accepted`(end: String) throws {
        // The last line begins one byte before the end of this part, and is the 25,576th.
        let lines = (0..<25_576).map { String(format: "%040X", $0) }
        #expect(try Self.mistake(in: lines.joined(separator: "\n") + end) == nil)
    }

    @Test func `a folder, a pipe and a missing file are refused`() throws {
        let folder = FileManager.default.temporaryDirectory.path
        #expect(throws: HashFileError.notRegular) { try BreachedList(folder) }
        let pipe = FileManager.default.temporaryDirectory.appending(path: "pipe-\(UUID())").path
        #expect(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        #expect(throws: HashFileError.notRegular) { try BreachedList(pipe) }
        #expect(throws: HashFileError.unreadable(ENOENT)) { try BreachedList("/nowhere/list.txt") }
    }

    // MARK: Changes while the server runs

    @Test func `a file that is replaced or deleted stays in use`() throws {
        let list = try withList(Self.list(of: 50)) { path in
            let list = try BreachedList(path)
            try Data("\(Self.a):1\n".utf8).write(to: URL(filePath: path), options: .atomic)
            #expect(try Self.contains(list, "known 1"))
            return list
        }
        #expect(try Self.contains(list, "known 49"))
    }

    @Test func `after a file was truncated, passwords are accepted, and the error is logged once`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "breached-\(UUID()).txt").path
        try Data(Self.list(of: 5000).utf8).write(to: URL(filePath: file))
        defer { unlink(file) }
        let list = try BreachedList(file)
        let log = LogLines()
        let breached = BreachedPasswords(list, logger: log.logger)
        defer { breached.shutdown() }
        let known = SharedSecret(text: "known 7")
        #expect(try await breached.contain(known, for: .unknown))
        #expect(log.messages == [])

        #expect(truncate(file, 0) == 0)
        let error = #expect(throws: HashFileError.self) { try Self.contains(list, "known 7") }
        #expect(error?.description == "the file has become shorter since the server opened it")
        #expect(try await !breached.contain(known, for: .unknown))
        #expect(try await !breached.contain(known, for: .unknown))
        #expect(log.messages == ["cannot search the list of breached passwords, so they are not refused"])
    }

    @Test func `a search in a file that was overwritten ends with an error`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "breached-\(UUID()).txt")
        try Data(Self.list(of: 5000).utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let list = try BreachedList(file.path)
        let length = try Data(contentsOf: file).count
        for byte in [UInt8(ascii: "\n"), UInt8(ascii: "A"), 0] {
            let handle = try FileHandle(forWritingTo: file)
            try handle.write(contentsOf: Data(repeating: byte, count: length))
            try handle.close()
            #expect(throws: HashFileError.self) { try Self.contains(list, "known 7") }
        }
    }
}

@Suite("A sign-up with a breached password", .freshDatabase)
struct BreachedSignupTests {
    @Test func `a submission and a check refuse a breached password, and compute no hash`()
        async throws
    {
        let password = "an unusual but leaked pass phrase"
        let breached = try withList("\(sha1(password)):2\n") { path in
            BreachedPasswords(try BreachedList(path), logger: .silent)
        }
        defer { breached.shutdown() }
        let metrics = Metrics()
        let parameters = Argon2Parameters(memoryKiB: 7168, iterations: 5)
        let hashing = try HashingPool(parameters: parameters, workers: 1, queue: 8, metrics: metrics)
        defer { hashing.shutdown() }
        func hashes() -> Double {
            metrics.hashes.family.samples.filter { $0.suffix == "_count" }.reduce(0) { $0 + $1.value }
        }
        try await TestSignups.with(hashing: hashing, breached: breached) { service in
            let draft = try await service.fill(service.start(), through: "code")
            let step = try #require(service.signups.flow.step(named: "password"))
            func answers(_ password: String) -> Answers {
                ["password": .password(password), "confirmation": .password(password)]
            }
            let error = await #expect(throws: SubmitError.self) {
                try await service.submit(answers(password), to: "password", of: draft)
            }
            guard case .refused(let refusals)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusals == [Refusal("password", .common)])
            #expect(hashes() == 0)
            let verdict = try await service.signups.check(answers(password), on: step, of: draft)
            #expect(verdict.refusals == [Refusal("password", .common)])
            let other = try await service.signups.check(answers(password + "!"), on: step, of: draft)
            #expect(other.refusals == [])
            _ = try await service.submit(answers(password + "!"), to: "password", of: draft)
            #expect(hashes() == 1)
        }
    }
}

/// Writes the text to a temporary file, and deletes the file after the body.
private func withList<Value>(_ text: String, _ body: (String) throws -> Value) throws -> Value {
    let file = FileManager.default.temporaryDirectory.appending(path: "breached-\(UUID()).txt")
    try Data(text.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try body(file.path)
}

private func sha1(_ text: String) -> String {
    String(decoding: BreachedHash.sha1.digits(of: Secret(text: text)).withBytes { Array($0) }, as: UTF8.self)
}
