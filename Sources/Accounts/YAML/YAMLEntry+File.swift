internal import Yams

extension YAMLEntry {
    /// Reads the outermost mapping of a YAML file.
    package init(yaml: String, file: String) throws(YAMLFileError) {
        let node: Node?
        do {
            node = try Yams.compose(yaml: yaml)
        } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
            throw YAMLFileError(file: file, line: context.mark.line, reason: "\"\(keys[0])\" appears twice")
        } catch let error as YamlError {
            throw YAMLFileError(file: file, line: error.line, reason: "not valid YAML: \(error.problem)")
        } catch {
            throw YAMLFileError(file: file, line: nil, reason: "not valid YAML: \(error)")
        }
        guard let node else {
            throw YAMLFileError(file: file, line: nil, reason: "the file is empty or has only comments")
        }
        try self.init(node, file: file)
    }
}

extension YamlError {
    fileprivate var line: Int? {
        switch self {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        default: nil
        }
    }

    /// libyaml's description of the error, without an excerpt of the file.
    fileprivate var problem: String {
        switch self {
        case .scanner(_, let problem, _, _), .parser(_, let problem, _, _), .composer(_, let problem, _, _),
            .reader(let problem, _, _, _):
            problem
        default: "\(self)"
        }
    }
}
