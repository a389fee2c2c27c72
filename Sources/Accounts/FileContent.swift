internal import Foundation

/// The whole content of a file, which may be a pipe.
package struct FileContent: Sendable {
    package let bytes: [UInt8]

    /// The error if a file cannot be read.
    package struct Unreadable: Error {
        /// Such as `No such file or directory`.
        package let reason: String
    }

    package init(of path: String) throws(Unreadable) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Unreadable(reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        // A pipe may return its content in pieces.
        while true {
            let count = read(descriptor, &buffer, buffer.count)
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
