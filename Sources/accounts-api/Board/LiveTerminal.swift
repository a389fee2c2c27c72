import Accounts
import Foundation
import Synchronization

/// The terminal while something is drawn on it that lives: no echo, no cursor, another screen, and all of it as it was
/// afterwards.
final class LiveTerminal: Sendable {
    private let before: termios
    private let isRestored = Atomic(false)

    /// Nil where there is no terminal.
    init?() {
        var now = termios()
        guard isatty(STDIN_FILENO) == 1, Terminal.isThere, tcgetattr(STDIN_FILENO, &now) == 0 else { return nil }
        before = now
        cfmakeraw(&now)
        tcsetattr(STDIN_FILENO, TCSANOW, &now)
        Self.write("\u{1B}[?1049h\u{1B}[?25l")
    }

    deinit {
        restore()
    }

    /// Nothing is drawn afterwards. Signals do again what they do.
    func restore() {
        if isRestored.exchange(true, ordering: .relaxed) { return }
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
        Self.write("\u{1B}[?25h\u{1B}[?1049l")
        var before = before
        tcsetattr(STDIN_FILENO, TCSANOW, &before)
    }

    /// One write over what stands there, which a terminal that can shows at one time, so nothing flickers.
    func draw(_ lines: [String]) {
        let text = lines.map { "\($0)\u{1B}[K" }.joined(separator: "\r\n")
        Self.write("\u{1B}[?2026h\u{1B}[H\(text)\u{1B}[J\u{1B}[?2026l")
    }

    /// The keys as they are pressed, until the terminal is gone.
    static func keys() -> AsyncStream<Key> {
        AsyncStream { keys in
            // Ends with the process: nothing interrupts a thread that waits for a key.
            _ = DedicatedThread(named: "keyboard") {
                var reader = KeyReader()
                var buffer = [UInt8](repeating: 0, count: 256)
                while true {
                    var keyboard = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                    // What belongs to an escape follows at once.
                    if reader.isPending, poll(&keyboard, 1, 50) == 0 {
                        for key in reader.giveUp() { keys.yield(key) }
                    }
                    let count = read(STDIN_FILENO, &buffer, buffer.count)
                    if count < 0, errno == EINTR { continue }
                    if count <= 0 { return keys.finish() }
                    for key in reader.read(Array(buffer[..<count])) { keys.yield(key) }
                }
            }
        }
    }

    private static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
