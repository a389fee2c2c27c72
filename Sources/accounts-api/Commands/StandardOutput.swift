import Foundation

/// Standard output of a command that follows something. The reader of a pipe may pause, or go away.
enum StandardOutput {
    enum State {
        /// A line can be written without waiting.
        case ready
        case busy
        /// Nobody reads it any more.
        case closed
    }

    static var state: State {
        var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&output, 1, 0) > 0 else { return .busy }
        return output.revents & Int16(POLLERR | POLLHUP | POLLNVAL) == 0 ? .ready : .closed
    }

    /// Writes the line as soon as there is room for it. Returns false if nobody reads it. SIGPIPE must be ignored.
    ///
    /// - Parameter line: at most 4 KiB, for which a pipe that is ready has room (pipe(7)).
    static func write(_ line: String) async throws -> Bool {
        while state == .busy { try await Task.sleep(for: .milliseconds(100)) }
        let bytes = Array("\(line)\n".utf8)
        return bytes.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) } == bytes.count
    }
}
