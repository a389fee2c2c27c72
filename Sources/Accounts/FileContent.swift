internal import Foundation

/// The content of a file, which may be a pipe.
package struct FileContent: Sendable {
    package let bytes: [UInt8]

    /// The error if a file cannot be read.
    package struct Unreadable: Error {
        /// Such as `No such file or directory`.
        package let reason: String
    }

    /// - Parameter limit: the maximum number of bytes to read. The rest of the file is left out.
    package init(of path: String, upTo limit: Int = .max) throws(Unreadable) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Unreadable(reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        // A pipe may return its content in pieces.
        while content.count < limit {
            let count = read(descriptor, &buffer, min(buffer.count, limit - content.count))
            if count > 0 {
                content += buffer[..<count]
            } else if count == 0 {
                break
            } else if errno != EINTR {
                throw Unreadable(reason: String(cString: strerror(errno)))
            }
        }
        bytes = content
    }
}
