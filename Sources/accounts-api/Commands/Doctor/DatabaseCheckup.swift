import Accounts
import Foundation

/// The checks of the database: connection, clock, disk, schema, role, log and keys.
struct DatabaseCheckup {
    let database: Database
    let keys: KeyRing
    /// The path of the file that has the keys; nil if they are in a flag or the environment.
    let keysFile: String?

    /// The names of the checks that need the schema, in the order of the output.
    private static let ofSchema = ["role", "log", "keys"]
    /// The maximum difference between the clocks of this machine and of the database, in seconds. Codes of
    /// authenticator apps, which depend on the time, change every 30 seconds.
    private static let maximumOffset = 2.0
    /// The minimum free space of a disk: both this share of the disk and this number of bytes.
    private static let minimumFree = (share: 0.1, bytes: 1 << 30)

    func findings() async -> [Finding] {
        let server: DatabaseServer
        let before: Date
        do throws(DatabaseError) {
            // This query opens the connection, which may take seconds and must not count as a difference of the clocks.
            _ = try await database.server(within: .seconds(10))
            before = Date()
            server = try await database.server(within: .seconds(10))
        } catch {
            let remedy = "check DATABASE_URL, the network and PostgreSQL"
            return [.wrong("database", "\(error)", remedy)]
                + (["clock", "disk", "migrations"] + Self.ofSchema).map { .skipped($0) }
        }
        let middle = before.addingTimeInterval(Date().timeIntervalSince(before) / 2)
        let first: [Finding] = [
            .ok("database", "PostgreSQL \(server.version), as the role \(server.role)"),
            Self.clock(server.now.timeIntervalSince(middle)),
            Self.disk(holding: server.size, server.localFolder.flatMap(Self.space)),
        ]
        do {
            let newer = try await Migrations().check(database)
            let schema: Finding =
                newer.isEmpty
                ? .ok("migrations", "the schema is that of this version")
                : .ok("migrations", "a newer version has applied \(newer.joined(separator: ", ")); this one can serve")
            return await first + [schema, finding("role", role), finding("log", log), finding("keys", checkKeys)]
        } catch {
            return first + [.wrong("migrations", "\(error)")] + Self.ofSchema.map { .skipped($0) }
        }
    }

    /// Runs a check and returns its finding. If `examine` throws, the finding is `wrong`.
    private func finding(_ check: String, _ examine: () async throws -> Finding) async -> Finding {
        do { return try await examine() } catch { return .wrong(check, "\(error)") }
    }

    /// - Parameter offset: the seconds by which the clock of the database is ahead of this machine; negative if it is
    ///   behind.
    static func clock(_ offset: TimeInterval) -> Finding {
        let milliseconds = Int((offset * 1000).rounded())
        if abs(offset) <= maximumOffset {
            return .ok("clock", "\(abs(milliseconds)) ms from that of the database")
        }
        return .wrong(
            "clock",
            "\(abs(milliseconds)) ms \(offset > 0 ? "behind" : "ahead of") that of the database",
            "run a time service, such as chrony, on both machines"
        )
    }

    /// - Parameters:
    ///   - size: the size of the database in bytes.
    ///   - space: the free and the total bytes of the disk with the database; nil if they are not known.
    static func disk(holding size: Int, _ space: (free: Int, total: Int)?) -> Finding {
        let content = "the database has \(mebibytes(size))"
        guard let (free, total) = space else {
            return .skipped("disk", "\(content); this role cannot see its disk, so watch it where PostgreSQL runs")
        }
        let text = "\(content), and its disk \(mebibytes(free)) free of \(mebibytes(total))"
        let isTooFull = free < minimumFree.bytes || Double(free) < Double(total) * minimumFree.share
        return isTooFull ? .wrong("disk", text, "make room: a full disk stops every sign-up") : .ok("disk", text)
    }

    private func role() async throws -> Finding {
        let excess = try await database.rightsBeyondServing()
        if excess.isEmpty {
            return try await database.mayServe()
                ? .ok("role", "it may serve, but not change the schema")
                : .warning(
                    "role",
                    "it lacks the privileges of a server",
                    "run doctor with the DATABASE_URL of the server"
                )
        }
        let text = "it \(excess.map(\.rawValue).joined(separator: " and "))"
        let remedy =
            "let the server connect as a member of accounts_serve, see docs/operating.md, \"A role for each task\""
        return excess.contains(.superuser) ? .wrong("role", text, remedy) : .warning("role", text, remedy)
    }

    private func log() async throws -> Finding {
        let settings = try await database.settingsThatLogValues()
        if settings.isEmpty { return .ok("log", "PostgreSQL does not log what people type") }
        return .wrong(
            "log",
            "PostgreSQL may log what people type, by \(settings.joined(separator: ", "))",
            "set pgaudit.log_parameter to off, and the others to 0"
        )
    }

    private func checkKeys() async throws -> Finding {
        if let mismatch = try await keys.mismatch(withServersOf: database) {
            let place = keysFile.map { " in \($0)" } ?? ""
            return .wrong("keys", "\(mismatch)", "restore the key\(place); without it, drafts and mails cannot be read")
        }
        return try await keys.isFirst(in: database)
            ? .ok("keys", "nothing to compare them with: the first server that starts stores a value for that")
            : .ok("keys", "the key ring fits the database")
    }

    private static func mebibytes(_ bytes: Int) -> String { "\(bytes >> 20) MiB" }

    /// Returns the free and the total bytes of the file system of a folder, or of its nearest ancestor that this user
    /// may see. Returns nil if this machine has no such folder, because PostgreSQL runs on another machine or in
    /// another container.
    private static func space(at folder: String) -> (free: Int, total: Int)? {
        var url = URL(filePath: folder)
        while true {
            var status = statvfs()
            if statvfs(url.path, &status) == 0 {
                return (Int(status.f_bavail) * Int(status.f_frsize), Int(status.f_blocks) * Int(status.f_frsize))
            }
            if errno != EACCES { return nil }
            url.deleteLastPathComponent()
        }
    }
}
