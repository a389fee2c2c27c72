@testable import Accounts

/// A suite about flow files that are accepted or refused.
protocol FlowFileSuite {}

extension FlowFileSuite {
    /// A flow file with these fields in its second step, one in each line from line 9 on.
    static func file(_ fields: String...) -> String {
        """
        flow: test
        version: 1

        steps:
          - name: first
            title: {en: First}
            fields: [{name: email, kind: email, label: {en: E-mail}}]
          - {name: second, title: {en: Second}, fields: [
        \(fields.map { "    {\($0), label: {en: Field}}" }.joined(separator: ",\n"))
            ]}
        """
    }

    /// The error of a flow file; nil if it is accepted.
    static func refusal(of yaml: String) -> String? {
        do throws(YAMLFileError) {
            _ = try Flow(yaml: yaml, file: "flow.yaml")
            return nil
        } catch {
            return error.description
        }
    }
}
