import Accounts
import Foundation

/// A picture or a font that a brand file names. Its type follows from its content, not from its name.
struct BrandFile: Sendable {
    let type: MediaType
    let bytes: [UInt8]

    enum MediaType: String, Sendable {
        case svg, png, ico, woff2

        var contentType: String {
            switch self {
            case .svg: "image/svg+xml"
            case .png: "image/png"
            case .ico: "image/x-icon"
            case .woff2: "font/woff2"
            }
        }

        /// Recognises the type of a file by its bytes. Returns nil if it is none of these types.
        init?(of bytes: [UInt8]) {
            let types: [(start: [UInt8], type: MediaType)] = [
                ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png), ([0, 0, 1, 0], .ico),
                (Array("wOF2".utf8), .woff2),
            ]
            if let found = types.first(where: { bytes.starts(with: $0.start) }) {
                self = found.type
            } else if Self.isSVG(bytes) {
                self = .svg
            } else {
                return nil
            }
        }

        /// Whether the root element is `svg` and has the namespace of SVG, without which browsers do not draw it. The
        /// namespace may be in an entity that the document type declares.
        private static func isSVG(_ bytes: [UInt8]) -> Bool {
            guard let all = String(validating: bytes, as: UTF8.self) else { return false }
            var text = all.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
            var declarations: Substring = ""
            while let (start, end) = [("<?", "?>"), ("<!--", "-->"), ("<!DOCTYPE", ">")].first(where: {
                text.hasPrefix($0.0)
            }) {
                var rest = text
                // The declarations of a document type are in brackets, and may contain ">".
                if start == "<!DOCTYPE", text.prefix(while: { $0 != ">" }).contains("[") {
                    rest = text.drop { $0 != "]" }
                    declarations = text[..<rest.startIndex]
                }
                guard let found = rest.firstRange(of: end) else { return false }
                text = rest[found.upperBound...].drop(while: \.isWhitespace)
            }
            let name = text.dropFirst().prefix { !$0.isWhitespace && !"/>".contains($0) }
            guard text.first == "<", name == "svg" || name.hasSuffix(":svg"), let tag = text.firstRange(of: ">") else {
                return false
            }
            let namespace = "http://www.w3.org/2000/svg"
            return text[..<tag.upperBound].contains(namespace) || declarations.contains(namespace)
        }
    }

    /// The reason why a file cannot be used.
    struct Unusable: Error {
        let reason: String
    }

    /// - Parameters:
    ///   - types: the permitted types.
    ///   - maximum: the maximum number of bytes.
    init(contentsOf path: String, among types: [MediaType], upTo maximum: Int) throws(Unusable) {
        bytes = try Self.bytes(of: path, upTo: maximum)
        guard let type = MediaType(of: bytes), types.contains(type) else {
            let names = types.map { $0.rawValue.uppercased() }.joined(separator: ", ")
            throw Unusable(reason: "the file has none of these types: \(names)")
        }
        self.type = type
    }

    private static func bytes(of path: String, upTo maximum: Int) throws(Unusable) -> [UInt8] {
        // Opening a pipe must not wait for its writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Unusable(reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Unusable(reason: "not a regular file")
        }
        guard status.st_size <= maximum else {
            throw Unusable(reason: "\(status.st_size) bytes, more than \(maximum >> 10) KiB")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        guard let data = try? handle.read(upToCount: maximum + 1), !data.isEmpty else {
            throw Unusable(reason: "the file cannot be read, or it is empty")
        }
        guard data.count <= maximum else { throw Unusable(reason: "more than \(maximum >> 10) KiB") }
        return Array(data)
    }
}
