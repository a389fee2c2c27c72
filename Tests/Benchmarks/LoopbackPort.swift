internal import Foundation

/// A port of 127.0.0.1 for a server in this process. It refuses connections until ``serve(_:)``.
struct LoopbackPort: Sendable {
    private let descriptor: Int32
    let number: Int

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) | getsockname(descriptor, $0, &size)
            }
        }
        guard status == 0 else { throw Service.Failure(description: "no port is free on 127.0.0.1") }
        number = Int(in_port_t(bigEndian: address.sin_port))
    }

    /// Accepts connections in the background. Each has its own thread, which calls the function and then closes the
    /// connection.
    func serve(_ act: @escaping @Sendable (Int32, UnsafeMutablePointer<FILE>) -> Void) {
        listen(descriptor, 100)
        Thread { [descriptor] in
            while case let connection = accept(descriptor, nil, nil), connection >= 0 {
                Thread {
                    var yes: Int32 = 1
                    setsockopt(
                        connection,
                        Int32(IPPROTO_TCP),
                        TCP_NODELAY,
                        &yes,
                        socklen_t(MemoryLayout<Int32>.size)
                    )
                    guard let input = fdopen(connection, "r") else { return }
                    defer { fclose(input) }
                    act(connection, input)
                }.start()
            }
        }.start()
    }
}

extension UnsafeMutablePointer<FILE> {
    /// Reads a line, and returns it without its end; nil at the end of the stream. Does not lock the stream, because
    /// otherwise `fflush(nil)` in another thread would wait until the line has arrived.
    func line() -> String? {
        var bytes: [UInt8] = []
        while case let byte = getc_unlocked(self), byte != Int32(UInt8(ascii: "\n")) {
            if byte == EOF { return nil }
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
