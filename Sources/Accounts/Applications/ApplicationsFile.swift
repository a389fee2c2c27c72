internal import Foundation

/// The file that registers the applications.
package struct ApplicationsFile: Sendable {
    package let path: String
    /// The flow with the fields whose values applications get as claims.
    package let flow: Flow
    /// The URL of this service. If it begins with `http://`, applications may use `http://localhost`.
    package let publicURL: String

    package init(path: String, flow: Flow, publicURL: String) {
        (self.path, self.flow, self.publicURL) = (path, flow, publicURL)
    }

    /// Reads the file and the files with secrets that it names. Throws one error with all mistakes that it finds.
    package func read() throws(ApplicationsFileError) -> Applications {
        let yaml: String
        do throws(YAMLFileError) {
            yaml = try YAMLText.read(path)
        } catch {
            throw ApplicationsFileError(mistakes: [error])
        }
        return try .parse(yaml, file: path, flow: flow, publicURL: publicURL)
    }
}
