internal import CSpawn
internal import Foundation

/// Starts an ``ImageWorker`` for one image at a time, and waits for its end.
struct ImageProcess: Sendable {
    let program: String
    let arguments: [String]

    func photo(of image: [UInt8]) throws(ImageError) -> Photo {
        if image.count > ImageFile.mostBytes { throw .fault(.tooLarge) }
        var ends: [Int32] = [-1, -1]
        // Closed in every process that others start meanwhile.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .noWorker }
        let ours = ends[0]
        defer { close(ours) }
        let started = start(with: ends[1])
        close(ends[1])
        guard let child = started else { throw .noWorker }
        send(image, to: ours)
        let output = receive(from: ours)
        // So that nobody waits to tell us more.
        shutdown(ours, Int32(SHUT_RDWR))
        return try outcome(of: child, output)
    }

    /// With that descriptor as its standard input and output, and nothing else of ours.
    private func start(with descriptor: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, descriptor, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, descriptor, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // It obeys its limits and our signals, whatever we have blocked.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        // Where the loader finds Swift, if it has been told. Nothing else, since the rest may be secret.
        var environment =
            getenv("LD_LIBRARY_PATH").map { [strdup("LD_LIBRARY_PATH=" + String(cString: $0)), nil] } ?? [nil]
        defer { for word in words + environment { free(word) } }
        var child = pid_t()
        return posix_spawn(&child, program, &actions, &attributes, &words, &environment) == 0 ? child : nil
    }

    /// As much as the other side wants of it.
    private func send(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            rest = rest.dropFirst(count)
        }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// All that comes, and nothing where that is too much.
    private func receive(from descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= Photo.mostBytes {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return bytes }
            bytes += piece[..<count]
        }
        return []
    }

    /// What is no whole photo is none. One that a limit has ended was one for an image that asks for more than it may.
    private func outcome(of child: pid_t, _ output: [UInt8]) throws(ImageError) -> Photo {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            if errno != EINTR { throw .noWorker }
        }
        // The macros of <sys/wait.h>: the signal stands in the lowest seven bits, the status of an exit above them.
        let signal = status & 0x7F
        if signal != 0 { throw .fault(.unsupported) }
        switch ImageWorker.Status(rawValue: status >> 8 & 0xFF) {
        case .done where output.starts(with: [0xFF, 0xD8]): return Photo(jpeg: output)
        case .unsupported: throw .fault(.unsupported)
        case .tooLarge: throw .fault(.tooLarge)
        case .done, .confused, nil: throw .noWorker
        }
    }
}
