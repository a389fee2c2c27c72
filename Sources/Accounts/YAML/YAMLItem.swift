/// One text of a list in a flow file, or in another YAML file of the operator.
struct YAMLItem {
    let text: String
    let file: String
    let line: Int?

    func error(_ reason: String) -> YAMLFileError { YAMLFileError(file: file, line: line, reason: reason) }
}
