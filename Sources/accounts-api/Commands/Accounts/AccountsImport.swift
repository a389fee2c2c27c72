import Accounts
import ArgumentParser
import Foundation

extension AccountCommands {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Imports accounts of another system.",
            discussion: """
                Each line of the file is a JSON object with "created_at" and with "email", "username" or both; \
                "email_verified", "profile", "password_hash" and "locale" are optional. The flow validates the values, \
                so use the flow file of the servers. Passwords keep working: their hashes are hashed once more with \
                Argon2id, at the cost of ARGON2_MEMORY_KIB and ARGON2_ITERATIONS. Set both as on the servers.

                Lines that were imported before are skipped, so run the command again after an interruption. Lines \
                that cannot be imported are reported by their number, and the command exits with 1. Writes an audit \
                record for each imported account.

                EXAMPLES
                  accounts-api accounts import users.jsonl --dry-run
                  accounts-api accounts import users.jsonl
                """
        )

        @Argument(help: "The file, or \"-\" for standard input.", completion: .file()) var file: String
        @Flag(help: "Checks each line by itself, and imports nothing.") var dryRun = false
        @Option(help: "The number of passwords to hash at the same time; the default is the number of cores.")
        var workers: Int?
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let workers = workers ?? Machine.cores
            guard (1...256).contains(workers) else { throw ValidationError("pass --workers from 1 to 256") }
            let lines = try Self.lines(of: file)
            let (memory, iterations) = try SettingSource().read(\.argon2Memory, \.argon2Iterations)
            let hashing = try HashingPool(
                parameters: Argon2Parameters(memoryKiB: memory, iterations: iterations),
                workers: dryRun ? 0 : workers,
                queue: dryRun ? 0 : ImportLines.batchSize
            )
            defer { hashing.shutdown() }
            var tally = Tally()
            try await flags.withOperator(writesAudit: !dryRun, hashing: hashing) { admin in
                let accounts = AccountImport(by: admin, isTrial: dryRun)
                if let mismatch = try await accounts.keyMismatch() {
                    throw Refused(description: "ACCOUNTS_KEYS does not fit the database: \(mismatch)")
                }
                // The report also counts the accounts that were imported before a failure.
                defer { report(tally) }
                do {
                    try await Self.run(accounts, lines, &tally)
                } catch ImportError.database(let error) {
                    throw error
                }
            }
            if !tally.refused.isEmpty { throw ExitCode(1) }
        }

        private func report(_ tally: Tally) {
            if Self.showsProgress { Tally.eraseProgress() }
            if flags.json {
                print(tally.json(isTrial: dryRun).text)
            } else {
                for (line, reasons) in tally.refused { printError("line \(line): \(reasons.joined(separator: ", "))") }
                print(tally.text(isTrial: dryRun))
            }
        }

        private static func lines(of file: String) throws -> ImportLines {
            if file == "-" { return ImportLines(FileHandle.standardInput.readDataToEndOfFile()) }
            do {
                return ImportLines(try Data(contentsOf: URL(filePath: file), options: .mappedIfSafe))
            } catch {
                throw ValidationError("cannot read \(file.printable)")
            }
        }

        private static func run(_ accounts: AccountImport, _ lines: ImportLines, _ tally: inout Tally) async throws {
            for batch in lines {
                for (line, outcome) in zip(batch, try await accounts.run(batch.map(\.bytes))) {
                    switch outcome {
                    case .imported: tally.imported += 1
                    case .present: tally.present += 1
                    case .refused(let reasons): tally.refused.append((line.number, reasons))
                    }
                }
                if showsProgress { tally.showProgress() }
            }
        }

        private static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 }
    }
}

/// The lines of a file that are not blank, in batches.
private struct ImportLines: Sequence, IteratorProtocol {
    static let batchSize = 256

    private var rest: Data
    private var number = 0

    init(_ data: Data) {
        rest = data
    }

    mutating func next() -> [(number: Int, bytes: [UInt8])]? {
        var batch: [(Int, [UInt8])] = []
        while !rest.isEmpty, batch.count < Self.batchSize {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            number += 1
            let line = rest[..<end]
            if line.contains(where: { !$0.isASCIIWhitespace }) { batch.append((number, Array(line))) }
            rest = rest[Swift.min(end + 1, rest.endIndex)...]
        }
        return batch.isEmpty ? nil : batch
    }
}

extension UInt8 {
    fileprivate var isASCIIWhitespace: Bool { [0x09, 0x0D, 0x20].contains(self) }
}

/// The outcomes of the lines that were processed so far.
private struct Tally {
    var imported = 0
    var present = 0
    var refused: [(line: Int, reasons: [String])] = []

    func showProgress() {
        FileHandle.standardError.write(Data("\r\(imported + present + refused.count) lines".utf8))
    }

    /// Erases the line of the progress, so that the next line of the terminal begins at its left edge.
    static func eraseProgress() { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }

    func text(isTrial: Bool) -> String {
        let verb = isTrial ? "would import" : "imported"
        return "\(verb) \(counted(imported, "account")), skipped \(present) that were imported before, refused "
            + counted(refused.count, "line")
    }

    func json(isTrial: Bool) -> JSON {
        let refused = refused.map { line, reasons -> JSON in
            ["line": .integer(line), "reasons": .array(reasons.map(JSON.string))]
        }
        return [
            "imported": .integer(imported), "present": .integer(present), "refused": .array(refused),
            "dry_run": .bool(isTrial),
        ]
    }
}
