import Testing

@testable import Accounts

@Suite("The syntax of a flow file")
struct FlowSyntaxTests: FlowFileSuite {
    @Test(arguments: ["a:\nb", "a:\nb\n", "a: [", "a: [\n", "\"", "a: b\n- c\n", "---", "---\n"])
    func `the error for an invalid file names a line that exists`(yaml: String) throws {
        let error = #expect(throws: YAMLFileError.self) { try Flow(yaml: yaml, file: "flow.yaml") }
        let line = try #require(error?.line)
        #expect((1...yaml.split(separator: "\n").count).contains(line))
    }

    @Test(arguments: [
        ("flow: test\nversion: 1\nflow: other\n", "flow.yaml:1: \"flow\" appears twice"),
        ("flow: test\nversion: 1\nsteps:\n  - name: a\n    name: b\n", "flow.yaml:4: \"name\" appears twice"),
        ("flow: test\ndraft: {idle: 1h, idle: 2h}\n", "flow.yaml:2: \"idle\" appears twice"),
        ("flow: test\n1: one\n\"1\": two\n", "flow.yaml:3: \"1\" appears twice"),
    ])
    func `a repeated key is refused`(yaml: String, refusal: String) {
        #expect(Self.refusal(of: yaml) == refusal)
    }

    @Test(arguments: [
        ("flow: [test\nversion: 1\n", "flow.yaml:2"),
        ("flow: test\n\tversion: 1\n", "flow.yaml:2"),
        ("flow: test\nversion: 1\nsteps:\n  - name: 'a\n", "flow.yaml:4"),
        ("flow: *nowhere\n", "flow.yaml:1"),
        ("flow: test\n---\nflow: other\n", "flow.yaml:2"),
        ("flow: \u{1}\n", "flow.yaml"),
        ("}", "flow.yaml:1"),
    ])
    func `a file that is not valid YAML is refused`(yaml: String, place: String) throws {
        let refusal = try #require(Self.refusal(of: yaml))
        let reason = "\(place): not valid YAML: "
        #expect(refusal.hasPrefix(reason) && refusal.count > reason.count && !refusal.contains("\n"))
    }

    @Test(arguments: ["", "\n\n", "# a comment\n", "   "])
    func `an empty file is refused`(yaml: String) {
        #expect(Self.refusal(of: yaml) == "flow.yaml: the file is empty or has only comments")
    }

    @Test(arguments: ["flow", "[flow, version]", "1", "~", "[{flow: test}]"])
    func `a file that is not a mapping is refused`(yaml: String) {
        #expect(Self.refusal(of: yaml) == "flow.yaml:1: expected a mapping")
    }

    @Test(arguments: ["{[a]: 1}", "{{a: 1}: 1}"])
    func `a key that is not a string is refused`(yaml: String) {
        #expect(Self.refusal(of: yaml) == "flow.yaml:1: a key must be a string")
    }
}
