internal import CSpawn
internal import Foundation
internal import Synchronization

/// Runs an ``ImageWorker`` for one image at a time.
final class ImageProcess: Sendable {
    private let program: String
    private let arguments: [String]
    private let sandbox: ImageSandbox
    private let state = Mutex(State())
    /// Called once if the kernel refuses the seccomp filter and the sandbox is optional.
    private let reportUnconfined: @Sendable () -> Void

    private struct State {
        /// The id of the running process, from its start until it is reaped.
        var running: Int32?
        var isStopped = false
        var hasReported = false
    }

    init(
        program: String,
        arguments: [String],
        sandbox: ImageSandbox,
        reportUnconfined: @escaping @Sendable () -> Void
    ) {
        (self.program, self.arguments, self.sandbox) = (program, arguments, sandbox)
        self.reportUnconfined = reportUnconfined
    }

    func photo(of image: [UInt8]) throws(ImageError) -> Photo {
        if image.count > ImageFile.maximumBytes { throw .fault(.tooLarge) }
        var sockets: [Int32] = [-1, -1]
        guard connected_sockets(&sockets) == 0 else { throw .noWorker(Self.reason("socketpair")) }
        let ourSocket = sockets[0]
        defer { close(ourSocket) }
        let child = try start(with: sockets[1])
        send(image, to: ourSocket)
        let output = receive(from: ourSocket)
        // Closes the connection, so that the process does not block if it sends more.
        shutdown(ourSocket, Int32(SHUT_RDWR))
        return try outcome(of: awaitEnd(of: child), output)
    }

    /// Kills the running process, and prevents further ones.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            if let running = state.running { kill(running, SIGKILL) }
        }
    }

    /// Starts the process with the descriptor as its standard input and output, with /dev/null as its standard error,
    /// and with no other descriptor. Closes the server's copy of the descriptor.
    private func start(with descriptor: Int32) throws(ImageError) -> Int32 {
        defer { close(descriptor) }
        var argumentPointers = ([program] + arguments).map { strdup($0) } + [nil]
        // Passes only the environment variable with which the loader finds the Swift libraries. Other variables may
        // contain secrets.
        let libraryPath = getenv("LD_LIBRARY_PATH").map { strdup("LD_LIBRARY_PATH=" + String(cString: $0)) }
        var environment = [libraryPath ?? nil, nil]
        defer { for pointer in argumentPointers + environment { free(pointer) } }
        return try state.withLock { state throws(ImageError) in
            if state.isStopped { throw .rejected(.stopped) }
            let child = spawn_alone(program, &argumentPointers, &environment, descriptor)
            guard child > 0 else { throw .noWorker(Self.reason("posix_spawn")) }
            state.running = child
            return child
        }
    }

    /// Waits until the process has ended, and releases its id.
    private func awaitEnd(of child: Int32) throws(ImageError) -> ending {
        let hasEnded = await_process(child) == 0
        var ending = ending()
        let isReaped = state.withLock { state in
            state.running = nil
            return hasEnded && reap_process(child, &ending) == 0
        }
        guard isReaped else { throw .noWorker(Self.reason("wait")) }
        return ending
    }

    /// Sends the bytes, or as many as the process reads.
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

    /// Returns all received bytes; none if there are more than a photo may have.
    private func receive(from descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= Photo.maximumBytes {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return bytes }
            bytes += buffer[..<count]
        }
        return []
    }

    /// Returns the photo if the process has succeeded and its output is a complete photo.
    ///
    /// If SIGALRM or SIGKILL ended the process after ``stop()``, throws `stopped`. If one of them ended it without
    /// ``stop()`` and before it had used up its processor time, throws `busy`: the machine is busy, and the process did
    /// not get enough processor time or memory. If another signal ended the process, or it had used up its processor
    /// time, the image is bad and is refused.
    private func outcome(of ending: ending, _ output: [UInt8]) throws(ImageError) -> Photo {
        switch (ending.signal, ImageWorker.Status(rawValue: ending.status)) {
        case (SIGALRM, _), (SIGKILL, _):
            if state.withLock({ $0.isStopped }) { throw .rejected(.stopped) }
            if ending.seconds < Double(ImageWorker.maximumSeconds) { throw .rejected(.busy(wait: .seconds(5))) }
            throw .fault(.unsupported)
        case (1..., _): throw .fault(.unsupported)
        case (_, .done): return try photo(from: output)
        case (_, .doneUnconfined) where sandbox == .optional:
            let isFirst = state.withLock { state in
                defer { state.hasReported = true }
                return !state.hasReported
            }
            if isFirst { reportUnconfined() }
            return try photo(from: output)
        case (_, .unsupported): throw .fault(.unsupported)
        case (_, .tooLarge): throw .fault(.tooLarge)
        case (_, .unconfined): throw .noWorker("the kernel refuses the seccomp filter of the image process")
        case (_, .doneUnconfined), (_, .failed), (_, nil):
            throw .noWorker("the image process ended with exit status \(ending.status)")
        }
    }

    /// A malicious image may have taken over the process, so its output is examined like an upload.
    private func photo(from output: [UInt8]) throws(ImageError) -> Photo {
        guard let photo = Photo(fromWorker: output) else { throw .noWorker("the output of the process is not a photo") }
        return photo
    }

    private static func reason(_ call: String) -> String { "\(call): \(String(cString: strerror(errno)))" }
}
