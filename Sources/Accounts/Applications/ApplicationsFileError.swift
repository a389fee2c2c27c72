/// All mistakes in an applications file, at least one.
package struct ApplicationsFileError: Error, CustomStringConvertible {
    package let mistakes: [YAMLFileError]

    package var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
