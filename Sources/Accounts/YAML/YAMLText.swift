internal import Foundation

/// Reads the text of a YAML file: of applications, of texts or of a brand.
package enum YAMLText {
    package static let maximumBytes = 1 << 20

    /// Returns the text of the file. Throws if the file cannot be read, is larger than ``maximumBytes``, or is not
    /// UTF-8 text.
    package static func read(_ path: String) throws(YAMLFileError) -> String {
        let data = FileHandle(forReadingAtPath: path).flatMap { try? $0.read(upToCount: maximumBytes + 1) }
        // This check comes before the decoding, because the end of the data may lie within a character.
        if let data, data.count > maximumBytes {
            throw YAMLFileError(file: path, line: nil, reason: "the file is larger than \(maximumBytes >> 20) MiB")
        }
        guard let text = data.flatMap({ String(validating: $0, as: UTF8.self) }) else {
            throw YAMLFileError(file: path, line: nil, reason: "the file cannot be read, or is not UTF-8 text")
        }
        return text
    }
}
