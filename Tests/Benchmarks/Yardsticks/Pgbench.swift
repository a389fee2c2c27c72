internal import Foundation

@testable import Accounts

/// pgbench, the load generator of PostgreSQL, with the statements of a step.
struct Pgbench {
    private let conninfo: String
    /// The scripts differ only in the ciphertexts, as the steps of different drafts do.
    private let scripts: [URL]

    /// - Parameter steps: for each step its two statements, a read and a write, as the service has sent them, and the
    ///   draft for which it has sent them.
    init(_ steps: [(statements: [SQL], draft: Draft)], on conninfo: String) throws {
        self.conninfo = conninfo
        scripts = try steps.map { try Self.script($0.statements, $0.draft) }
    }

    private static func script(_ statements: [SQL], _ draft: Draft) throws -> URL {
        let script = FileManager.default.temporaryDirectory.appending(path: "step-\(UUID()).pgbench")
        let read = Self.text(of: statements[0], draft)
        // The write uses the revision from the read.
        let write = Self.text(of: statements[1], draft).replacing(/revision = [0-9]+/) { _ in "revision = :revision" }
        let text = """
            \\if :begun = 0
            SELECT id, token_hash::text AS token FROM drafts ORDER BY drafts.id OFFSET :client_id * 4 LIMIT 1 \\gset
            \\set begun 1
            \\endif
            \(read) \\gset
            \(write);
            """
        try Data(text.utf8).write(to: script)
        return script
    }

    /// The text of the statement, with variables of pgbench for the draft and with the recorded values of all other
    /// parameters.
    private static func text(of statement: SQL, _ draft: Draft) -> String {
        let values = statement.parameters.map { parameter in
            switch (parameter.type, parameter.bytes) {
            case (_, nil): "NULL"
            case (_, draft.id.bytes): ":id"
            case (_, draft.tokenHash): ":token"
            case (.int8, let bytes?): "\(bytes.reduce(0) { $0 << 8 | Int($1) })"
            case (.text, let bytes?): "'\(String(decoding: bytes, as: UTF8.self))'"
            case (_, let bytes?): "'\\x\(bytes.map { String(format: "%02x", $0) }.joined())'"
            }
        }
        return statement.text.replacing(/\$([0-9]+)/) { values[Int($0.1)! - 1] }.split(separator: "\n").joined(
            separator: " "
        )
    }

    func run(clients: Int, for time: Duration) throws -> Load {
        let log = FileManager.default.temporaryDirectory.appending(path: "pgbench-\(UUID())")
        defer {
            for file in Self.logs(log) { try? FileManager.default.removeItem(at: file) }
        }
        let text = try output(
            of: "pgbench",
            [
                "--no-vacuum", "--protocol=prepared", "--client=\(clients)", "--time=\(time.components.seconds)",
                "--define=begun=0", "--log", "--log-prefix=\(log.path)",
            ] + scripts.map { "--file=\($0.path)" } + [conninfo]
        )
        guard let rate = text.firstMatch(of: /tps = ([0-9.]+) \(without/).flatMap({ Double($0.1) }) else {
            throw Service.Failure(description: "pgbench: \(text)")
        }
        // The third column is the time of a transaction in µs.
        let times = try Self.logs(log).flatMap { file in
            try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
                line.split(separator: " ").dropFirst(2).first.flatMap { Double($0) }
            }
        }.sorted()
        guard !times.isEmpty else { throw Service.Failure(description: "pgbench has logged nothing") }
        return Load(
            count: Double(times.count),
            rate: rate,
            p50: .nanoseconds(Int(times[times.count / 2] * 1000)),
            p99: .nanoseconds(Int(times[times.count * 99 / 100] * 1000))
        )
    }

    private static func logs(_ prefix: URL) -> [URL] {
        let folder = prefix.deletingLastPathComponent()
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).filter { $0.lastPathComponent.hasPrefix(prefix.lastPathComponent) }
    }
}
