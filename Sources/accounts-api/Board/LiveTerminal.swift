import Accounts
import Foundation
import Synchronization

/// The terminal in full-screen mode: no echo, no cursor, the alternate screen. ``restore()`` undoes all of it.
final class LiveTerminal: Sendable {
    private let originalSettings: termios
    private let isRestored = Atomic(false)

    /// Returns nil if standard input or output is not a terminal.
    init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, Terminal.isConnected, tcgetattr(STDIN_FILENO, &settings) == 0 else {
            return nil
        }
        originalSettings = settings
        cfmakeraw(&settings)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        Self.write("\u{1B}[?1049h\u{1B}[?25l")
    }

    deinit {
        restore()
    }

    /// Restores the terminal. From then on, SIGINT, SIGTERM and SIGHUP end the process, even process 1 of a container,
    /// for which their default actions would do nothing. Do not draw afterwards.
    func restore() {
        if isRestored.exchange(true, ordering: .relaxed) { return }
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number) { _exit(128 + $0) } }
        Self.write("\u{1B}[?25h\u{1B}[?1049l")
        var settings = originalSettings
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    /// Replaces the screen in one synchronized update (terminal mode 2026), so that nothing flickers.
    func draw(_ lines: [String]) {
        let text = lines.map { "\($0)\u{1B}[K" }.joined(separator: "\r\n")
        Self.write("\u{1B}[?2026h\u{1B}[H\(text)\u{1B}[J\u{1B}[?2026l")
    }

    /// The pressed keys. The stream ends when the terminal is closed.
    static func keys() -> AsyncStream<Key> {
        AsyncStream { keys in
            // The thread lives until the terminal is closed or the process ends, because nothing else ends its read.
            _ = DedicatedThread(named: "keyboard") {
                var reader = KeyReader()
                var buffer = [UInt8](repeating: 0, count: 256)
                while true {
                    var keyboard = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                    // The byte ESC is either the Escape key or the start of a sequence. It is the key if no byte
                    // follows within 50 ms.
                    if reader.isPending, poll(&keyboard, 1, 50) == 0, let key = reader.flush() { keys.yield(key) }
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
