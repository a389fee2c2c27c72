import Foundation
import TestSupport

/// A form with files, as browsers write it.
struct Multipart {
    private static let boundary = "----WebKitFormBoundary7MA4YWxkTrZu0gW"
    static let type = "multipart/form-data; boundary=\(boundary)"
    private var parts: [UInt8] = []

    /// - Parameters:
    ///   - texts: the values of text fields, by name.
    ///   - photo: the file of the field `photo`; empty for a control in which no file was chosen.
    init(_ texts: KeyValuePairs<String, String> = [:], photo: [UInt8]? = nil) {
        for (name, text) in texts { add("form-data; name=\"\(name)\"", Array(text.utf8)) }
        if let photo { add("form-data; name=\"photo\"; filename=\"me.jpg\"\r\nContent-Type: image/jpeg", photo) }
    }

    var bytes: [UInt8] { parts + Array("--\(Self.boundary)--\r\n".utf8) }

    private mutating func add(_ disposition: String, _ content: [UInt8]) {
        parts +=
            Array("--\(Self.boundary)\r\nContent-Disposition: \(disposition)\r\n\r\n".utf8) + content
            + Array("\r\n".utf8)
    }
}

/// An image of the fuzzing corpus.
func image(_ name: String) throws -> [UInt8] {
    let folder = Repository.root.appending(path: "Tests/Fuzzing/corpus/image")
    return try Array(Data(contentsOf: folder.appending(path: name)))
}
