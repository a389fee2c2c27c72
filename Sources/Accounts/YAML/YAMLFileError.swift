/// A mistake in a flow file, or in another YAML file of the operator.
package struct YAMLFileError: Error, CustomStringConvertible {
    package let file: String
    /// The number of the line, from 1; nil if the mistake is not in a known line.
    package let line: Int?
    package let reason: String
    /// The other mistakes of the file, in the order of their lines.
    private let others: [YAMLFileError]

    init(file: String, line: Int?, reason: String) {
        (self.file, self.line, self.reason, others) = (file, line, reason, [])
    }

    /// The error for several mistakes of a file; nil if there are none.
    init?(_ mistakes: [YAMLFileError]) {
        let sorted = mistakes.enumerated()
            .sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }.map(\.element)
        guard let first = sorted.first else { return nil }
        (file, line, reason, others) = (first.file, first.line, first.reason, Array(sorted.dropFirst()))
    }

    /// This mistake and the others of the file, in the order of their lines.
    package var all: [YAMLFileError] { [YAMLFileError(file: file, line: line, reason: reason)] + others }

    /// A line for each mistake.
    package var description: String {
        (["\(file)\(line.map { ":\($0)" } ?? ""): \(reason)"] + others.map(\.description)).joined(separator: "\n")
    }

    /// Returns the same error with each line number limited to the number of lines of the text, because libyaml may
    /// report a line after the end of the text.
    package func within(_ yaml: String) -> YAMLFileError {
        let lines = max(1, yaml.count(where: \.isNewline) + (yaml.last?.isNewline == true ? 0 : 1))
        let all = all.map { YAMLFileError(file: file, line: $0.line.map { min($0, lines) }, reason: $0.reason) }
        return YAMLFileError(all) ?? self
    }
}
