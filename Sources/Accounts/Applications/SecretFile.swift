internal import Foundation

/// A file with secrets, one in each line. An operator replaces a secret in two steps: first inserts the new secret
/// before the old one, and later removes the old one.
package struct SecretFile: Sendable {
    /// The lines, without spaces and tabs at the beginning and the end. Empty lines are omitted.
    package let lines: [String]
    /// Whether the mode of the file permits every user of the machine to read it. Its folder may still prevent that.
    package let isReadableByAll: Bool

    /// The reason why a file cannot be read.
    package struct Unreadable: Error, Sendable {
        package let reason: String

        package init(_ reason: String) {
            self.reason = reason
        }
    }

    package init(lines: [String], isReadableByAll: Bool = false) {
        (self.lines, self.isReadableByAll) = (lines, isReadableByAll)
    }

    package init(contentsOf path: String) throws(Unreadable) {
        // Without O_NONBLOCK, opening a named pipe would wait until another process opens it for writing.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Unreadable(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Unreadable("not a regular file")
        }
        var bytes = [UInt8](repeating: 0, count: Self.maximumBytes + 1)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw Unreadable(String(cString: strerror(errno))) }
        guard count <= Self.maximumBytes else { throw Unreadable("larger than \(Self.maximumBytes) bytes") }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else { throw Unreadable("not UTF-8 text") }
        lines = text.split(whereSeparator: \.isNewline).map { String($0.trimmingWhitespace()) }.filter { !$0.isEmpty }
        isReadableByAll = status.st_mode & S_IROTH != 0
    }

    private static let maximumBytes = 4096
}
