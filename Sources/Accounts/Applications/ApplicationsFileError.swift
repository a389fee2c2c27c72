/// The mistakes that were found in an applications file, at least one. One mistake may hide others.
package struct ApplicationsFileError: Error, CustomStringConvertible {
    package let mistakes: [YAMLFileError]

    package var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
