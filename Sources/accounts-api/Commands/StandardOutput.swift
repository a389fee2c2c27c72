import Foundation

/// Standard output of a command that prints until it is stopped. The output may be a pipe, whose reader may pause or
/// close the pipe.
enum StandardOutput {
    enum State {
        /// A line can be written without waiting.
        case ready
        case busy
        /// The reader has closed the pipe.
        case closed
    }

    static var state: State {
        var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&output, 1, 0) > 0 else { return .busy }
        return output.revents & Int16(POLLERR | POLLHUP | POLLNVAL) == 0 ? .ready : .closed
    }

    /// The error if the output cannot be written, for example because the disk is full.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Waits until there is room for the line, and writes the line with a line break. Returns false if the reader has
    /// closed the output. The process must ignore SIGPIPE.
    ///
    /// - Parameter line: a line that has at most 4 KiB with its line break. A pipe that is ready has room for 4 KiB
    ///   (pipe(7)).
    static func write(_ line: String) async throws -> Bool {
        var rest = Array("\(line)\n".utf8)[...]
        while !rest.isEmpty {
            while state == .busy { try await Task.sleep(for: .milliseconds(100)) }
            let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0 {
                if [EINTR, EAGAIN].contains(errno) { continue }
                if errno == EPIPE { return false }
                throw Failure(description: "cannot write to standard output: \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
