internal import CSpawn
internal import Foundation
internal import Synchronization

/// Starts an ``ImageWorker`` for one image at a time, and waits for its end.
final class ImageProcess: Sendable {
    private let program: String
    private let arguments: [String]
    private let state = Mutex(State())
    /// Hears, once, that the system does not confine processes.
    private let isUnconfined: @Sendable () -> Void

    private struct State {
        /// The one that runs, from its start until it is taken away.
        var running: Int32?
        var isOver = false
        var hasTold = false
    }

    init(program: String, arguments: [String], isUnconfined: @escaping @Sendable () -> Void) {
        (self.program, self.arguments) = (program, arguments)
        self.isUnconfined = isUnconfined
    }

    func photo(of image: [UInt8]) throws(ImageError) -> Photo {
        if image.count > ImageFile.maximumBytes { throw .fault(.tooLarge) }
        var ends: [Int32] = [-1, -1]
        // Closed in every process that others start meanwhile.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .noWorker(Self.reason("socketpair")) }
        let ours = ends[0]
        defer { close(ours) }
        let child = try start(with: ends[1])
        send(image, to: ours)
        let output = receive(from: ours)
        // So that nobody waits to tell us more.
        shutdown(ours, Int32(SHUT_RDWR))
        return try outcome(of: end(of: child), output)
    }

    /// Ends what runs, and from now on whatever is started.
    func stop() {
        state.withLock { state in
            state.isOver = true
            if let running = state.running { kill(running, SIGKILL) }
        }
    }

    /// With that descriptor as its standard input and output, which is its own from then on, and nothing else of ours.
    private func start(with descriptor: Int32) throws(ImageError) -> Int32 {
        defer { close(descriptor) }
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        // Where the loader finds Swift, if it has been told. Nothing else, since the rest may be secret.
        let place = getenv("LD_LIBRARY_PATH").map { strdup("LD_LIBRARY_PATH=" + String(cString: $0)) }
        var environment = [place ?? nil, nil]
        defer { for word in words + environment { free(word) } }
        return try state.withLock { state throws(ImageError) in
            if state.isOver { throw .rejected(.stopped) }
            let child = spawn_alone(program, &words, &environment, descriptor)
            guard child > 0 else { throw .noWorker(Self.reason("posix_spawn")) }
            state.running = child
            return child
        }
    }

    private func end(of child: Int32) throws(ImageError) -> ending {
        let isThere = await_process(child) == 0
        var ending = ending()
        let isReaped = state.withLock { state in
            state.running = nil
            return isThere && reap_process(child, &ending) == 0
        }
        guard isReaped else { throw .noWorker(Self.reason("wait")) }
        return ending
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
        while bytes.count <= Photo.maximumBytes {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return bytes }
            bytes += piece[..<count]
        }
        return []
    }

    /// What is no whole photo is none. Who asks for more than a limit gives is ended for it, and was no image that we take;
    /// who was ended before that has not had its turn on a busy machine.
    private func outcome(of ending: ending, _ output: [UInt8]) throws(ImageError) -> Photo {
        switch (ending.signal, ImageWorker.Status(rawValue: ending.status)) {
        case (SIGALRM, _), (SIGKILL, _):
            if state.withLock({ $0.isOver }) { throw .rejected(.stopped) }
            if ending.seconds < Double(ImageWorker.maximumSeconds) { throw .rejected(.busy(wait: .seconds(5))) }
            throw .fault(.unsupported)
        case (1..., _): throw .fault(.unsupported)
        case (_, .done) where output.starts(with: [0xFF, 0xD8]): return Photo(jpeg: output)
        case (_, .doneUnconfined) where output.starts(with: [0xFF, 0xD8]):
            let isNew = state.withLock { state in
                defer { state.hasTold = true }
                return !state.hasTold
            }
            if isNew { isUnconfined() }
            return Photo(jpeg: output)
        case (_, .unsupported): throw .fault(.unsupported)
        case (_, .tooLarge): throw .fault(.tooLarge)
        case (_, .done), (_, .doneUnconfined), (_, .confused), (_, nil):
            throw .noWorker("it ended with \(ending.status)")
        }
    }

    private static func reason(_ call: String) -> String { "\(call): \(String(cString: strerror(errno)))" }
}
