internal import Foundation

/// A separate PostgreSQL cluster for tests that would disturb the shared server: killing a backend restarts the whole
/// cluster.
///
/// It has a Unix socket and no port. If the tests run as root, the server runs as another user, because PostgreSQL
/// refuses to run as root.
package struct Cluster: Sendable {
    /// The folder of the data, the socket and the log.
    private let folder: URL
    private let binaries: URL
    private let settings: String
    /// The user that runs the server; nil for the user that runs the tests.
    private let owner: Owner?

    /// A libpq connection string, for the superuser.
    package var conninfo: String { "host=\(folder.path) user=accounts dbname=postgres" }

    /// Lends a running cluster and removes it afterwards.
    ///
    /// - Parameters:
    ///   - fsync: whether a commit waits for the disk. If false, a killed server still loses no commit.
    ///   - settings: additional settings, such as `log_statement=all`.
    @discardableResult
    package static func withRunning<Value>(
        fsync: Bool = false,
        settings extraSettings: [String] = [],
        _ body: (Cluster) async throws -> Value
    ) async throws -> Value {
        let cluster = try Cluster(fsync: fsync, extraSettings)
        do {
            try await cluster.initialize()
            try await cluster.start()
            let value = try await body(cluster)
            await cluster.remove()
            return value
        } catch {
            await cluster.remove()
            throw error
        }
    }

    private init(fsync: Bool, _ extraSettings: [String]) throws {
        let versions = URL(filePath: "/usr/lib/postgresql")
        let newest = try FileManager.default.contentsOfDirectory(atPath: versions.path).compactMap(Int.init).max()
        guard let newest else { throw Failure(description: "no PostgreSQL server is installed in \(versions.path)") }
        binaries = versions.appending(path: "\(newest)/bin")
        // The folder for temporary files may have a long path, and the path of a socket has at most 107 bytes.
        folder = URL(filePath: "/tmp/cluster-\(UUID().uuidString.prefix(13))")
        let defaults = [
            "listen_addresses=", "unix_socket_directories=\(folder.path)", "max_connections=50", "shared_buffers=16MB",
            "fsync=\(fsync ? "on" : "off")",
        ]
        settings = (defaults + extraSettings).map { "-c \($0)" }.joined(separator: " ")
        if geteuid() == 0 {
            guard let entry = getpwnam("postgres") ?? getpwnam("nobody") else {
                throw Failure(description: "PostgreSQL must not run as root, and there is no user postgres or nobody")
            }
            owner = Owner(user: entry.pointee.pw_uid, group: entry.pointee.pw_gid)
        } else {
            owner = nil
        }
    }

    private func initialize() async throws {
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        if let owner, chown(folder.path, owner.user, owner.group) != 0 {
            throw Failure(description: "the owner of \(folder.path) cannot be changed")
        }
        let options = ["--username=accounts", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
        try await run("initdb", options)
    }

    /// Starts the server, and returns when it accepts connections.
    package func start() async throws {
        try await run("pg_ctl", ["start", "--wait", "--log=\(folder.path)/log", "--options=\(settings)"])
    }

    /// The text that the server has logged so far.
    package func log() throws -> String { try String(contentsOf: folder.appending(path: "log"), encoding: .utf8) }

    /// Ends all sessions, then the server. Committed data stays.
    package func stop() async throws {
        try await run("pg_ctl", ["stop", "--wait", "--mode=fast"])
    }

    /// Simulates a power loss: the server stops without a checkpoint, starts again and recovers from its write-ahead
    /// log.
    package func crashAndRestart() async throws {
        try await run("pg_ctl", ["stop", "--wait", "--mode=immediate"])
        try await start()
    }

    package func restart() async throws {
        try await stop()
        try await start()
    }

    /// Sends SIGKILL to one backend. The server then ends all others too and recovers.
    package func kill(backend pid: Int) throws {
        guard Foundation.kill(pid_t(pid), SIGKILL) == 0 else {
            throw Failure(description: "there is no backend \(pid)")
        }
    }

    private func remove() async {
        try? await run("pg_ctl", ["stop", "--wait", "--mode=immediate"])
        try? FileManager.default.removeItem(at: folder)
    }

    /// Runs a PostgreSQL program on the data, and returns when it has succeeded.
    private func run(_ program: String, _ arguments: [String]) async throws {
        var command = [binaries.appending(path: program).path] + arguments + ["--pgdata=\(folder.path)/data"]
        if let owner {
            command = ["setpriv", "--reuid=\(owner.user)", "--regid=\(owner.group)", "--clear-groups", "--"] + command
        }
        // The owner may have no access to the current folder of the tests.
        command = ["env", "--chdir=\(folder.path)"] + command
        let status = try await onThread { [command] in try Self.status(of: command) }
        guard status == 0 else { throw Failure(description: "\(program) ended with the wait status \(status)") }
    }

    /// Runs a command until it ends, and returns its wait status. Blocks. Foundation's `Process` would also wait for
    /// the server that the command starts.
    private static func status(of command: [String]) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        // The server must not inherit the descriptors of other tests. Closing one that is not open does no harm.
        for descriptor in 3..<min(getdtablesize(), 1024) { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var arguments = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }

        var process = pid_t()
        let failure = posix_spawnp(&process, command[0], &actions, nil, &arguments, environ)
        guard failure == 0 else { throw Failure(description: "\(command[0]): \(String(cString: strerror(failure)))") }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure(description: "waitpid failed for \(command[0])") }
        }
        return status
    }

    private struct Owner {
        let user: uid_t
        let group: gid_t
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
