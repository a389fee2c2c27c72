/// Reads the text of a YAML file: of applications, of texts or of a brand.
package enum YAMLText {
    package static let maximumBytes = 1 << 20

    /// Returns the text of the file. Throws if the file cannot be read, is larger than ``maximumBytes``, or is not
    /// UTF-8 text.
    package static func read(_ path: String) throws(YAMLFileError) -> String {
        let bytes: [UInt8]
        do throws(FileContent.Unreadable) {
            bytes = try FileContent(of: path, upTo: maximumBytes + 1).bytes
        } catch {
            throw YAMLFileError(file: path, line: nil, reason: "cannot read the file: \(error.reason)")
        }
        // This check comes before the decoding, because the end of the bytes may lie within a character.
        if bytes.count > maximumBytes {
            throw YAMLFileError(file: path, line: nil, reason: "the file is larger than \(maximumBytes >> 20) MiB")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw YAMLFileError(file: path, line: nil, reason: "the file is not UTF-8 text")
        }
        return text
    }
}
