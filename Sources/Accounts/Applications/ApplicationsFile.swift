internal import Foundation

/// The file that registers the applications.
package struct ApplicationsFile: Sendable {
    package let path: String
    /// The flow whose fields the claims name.
    package let flow: Flow
    /// The URL of this service. If it begins with `http://`, applications may use `http://localhost`.
    package let publicURL: String

    package static let maximumBytes = 1 << 20

    package init(path: String, flow: Flow, publicURL: String) {
        (self.path, self.flow, self.publicURL) = (path, flow, publicURL)
    }

    /// Reads the file and the files with secrets that it names. Throws one error with all mistakes that it finds.
    package func read() throws(ApplicationsFileError) -> Applications {
        let yaml: String
        do throws(YAMLFileError) {
            yaml = try Self.text(of: path)
        } catch {
            throw ApplicationsFileError(mistakes: [error])
        }
        return try .parse(yaml, file: path, flow: flow, publicURL: publicURL)
    }

    package static func text(of path: String) throws(YAMLFileError) -> String {
        let data = FileHandle(forReadingAtPath: path).flatMap { try? $0.read(upToCount: maximumBytes + 1) }
        // This check comes before the decoding, because the end of the data may lie within a character.
        if let data, data.count > maximumBytes {
            throw YAMLFileError(file: path, line: nil, reason: "the file is larger than \(maximumBytes >> 20) MiB")
        }
        guard let text = data.flatMap({ String(validating: $0, as: UTF8.self) }) else {
            throw YAMLFileError(file: path, line: nil, reason: "cannot read the file as UTF-8 text")
        }
        return text
    }
}
