import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The flow commands", .timeLimit(.minutes(30)))
struct FlowCommandTests {
    private static let validFlow = """
        flow: tea
        version: 2
        languages: [en, ko]
        steps:
          - name: first
            title: {en: First, ko: 첫 번째}
            optional: true
            fields:
              - name: drink
                kind: choice
                required: false
                options: [{value: tea, label: {en: Tea, ko: 차}}, {value: coffee, label: {en: Coffee, ko: 커피}}]
                label: {en: Drink, ko: 음료}

        """
    private static let invalidFlow = validFlow.replacing("kind: choice", with: "kind: chois")

    @Test func `flow check reports a valid file`() async throws {
        try await withFile(Self.validFlow) { file in
            let run = try await CommandRun.of("flow", "check", file)
            #expect(run.status == 0 && run.output == "\(file): tea@2 is valid: 1 step, 1 field\n")
            let json = try await CommandRun.of("flow", "check", file, "--json")
            #expect(json.status == 0 && json.output == #"{"valid":true,"flow":"tea@2","warnings":[]}"# + "\n")
        }
    }

    @Test func `flow show --yaml prints the file of the built-in flow, with the languages of TEXTS_FILE`() async throws
    {
        let builtIn = try await CommandRun.of("flow", "show", "--yaml")
        #expect(builtIn.status == 0 && builtIn.output == Flow.standardYAML())
        try await withFile(builtIn.output) { file in
            let check = try await CommandRun.of("flow", "check", file)
            #expect(check.status == 0)
        }
        let settings = ["TEXTS_FILE": "examples/texts/ja.yaml", "FLOW_FILE": "nowhere"]
        let japanese = try await CommandRun.of(["flow", "show", "--yaml"], settings: settings)
        #expect(japanese.status == 0 && japanese.output.contains("\nlanguages: [en, ko, ja]\n"))
        for other in [["--json"], ["--language", "ko"], ["--flow-file", "signup.yaml"]] {
            let refused = try await CommandRun.of(["flow", "show", "--yaml"] + other, settings: [:])
            #expect(refused.status == 2)
        }
    }

    @Test func `flow check reports an invalid file with its path, line and reason`() async throws {
        try await withFile(Self.invalidFlow) { file in
            let run = try await CommandRun.of("flow", "check", file)
            #expect(run.status == 1 && run.errorOutput == "\(file):10: unknown kind \"chois\"\n")
            let json = try await CommandRun.of("flow", "check", file, "--json")
            #expect(json.status == 1 && json.errorOutput.isEmpty)
            let expected: JSON = [
                "valid": false,
                "mistakes": [["file": .string(file), "line": 10, "reason": "unknown kind \"chois\""]],
            ]
            #expect(try JSON.read(Array(json.output.utf8)) == expected)
        }
    }

    @Test func `flow check fails without an argument and with a missing file`() async throws {
        #expect(try await CommandRun.of("flow", "check").status == 2)
        let nowhere = try await CommandRun.of("flow", "check", "/nowhere/signup.yaml")
        #expect(nowhere.status == 1)
        #expect(nowhere.errorOutput == "/nowhere/signup.yaml: cannot read the file: No such file or directory\n")
    }

    @Test func `flow check reports all mistakes at once, and reads standard input`() async throws {
        let flow = Self.validFlow.replacing("version: 2", with: "version: two")
            .replacing("optional: true", with: "optonal: true").replacing("kind: choice", with: "kindd: choice")
        let expected = [
            (2, "\"version\" must be a whole number from 1 to 1000000, not \"two\""),
            (7, "unknown key \"optonal\": did you mean \"optional\"?"),
            (10, "unknown key \"kindd\": did you mean \"kind\"?"),
        ]
        try await withFile(flow) { file in
            let run = try await CommandRun.of("flow", "check", file)
            #expect(run.status == 1 && run.errorOutput == expected.map { "\(file):\($0): \($1)\n" }.joined())
            let json = try await CommandRun.of("flow", "check", file, "--json").json
            #expect(json["mistakes"]?.texts(of: "reason") == expected.map(\.1))
            let server = try await CommandRun.of("drafts", "list", settings: ["FLOW_FILE": file])
            #expect(server.status == 2)
            for (line, reason) in expected {
                #expect(server.errorOutput.contains("FLOW_FILE: \(file):\(line): \(reason)"))
            }
        }
        for (text, status) in [(flow, 1), (Self.validFlow, 0)] as [(String, Int32)] {
            try await withFile(text) { file in
                let command = ["/bin/sh", "-c", #""$0" flow check - <"$1""#, ServerProcess.program.path, file]
                let ended = try await CommandRun.status(of: command)
                #expect(ended == status)
            }
        }
    }

    @Test func `flow diff lists the rules and fields that differ`() async throws {
        try await withFile(Self.validFlow) { old in
            #expect(
                try await CommandRun.of("flow", "diff", old, old).output
                    == "tea@2 → tea@2\nnothing differs, except perhaps texts\n"
            )
            let changed = Self.validFlow.replacing(
                "version: 2",
                with: "version: 3\ndraft: {idle: 30m}\nlimits: {starts: 60/10m}"
            )
            .replacing("name: drink", with: "name: cup")
            try await withFile(changed) { new in
                let run = try await CommandRun.of("flow", "diff", old, new)
                #expect(run.status == 0)
                #expect(
                    run.output == """
                        tea@2 → tea@3
                        ~ draft.idle: 1d → 30m
                        ~ limits.starts: 120 in 10m → 60 in 10m
                        - first.drink: choice, optional, choose one, options tea|coffee
                        + first.cup: choice, optional, choose one, options tea|coffee

                        """
                )
                let json = try await CommandRun.of("flow", "diff", old, new, "--json").json
                #expect(json["new"] == "tea@3" && json["signups"] == .null)
                #expect(
                    json["changes"]?.texts(of: "name") == ["draft.idle", "limits.starts", "first.drink", "first.cup"]
                )
            }
        }
    }

    @Test(arguments: [
        ("proves: email\n", "proves: email\n        attempts: 1\n", "code.code"),
        ("min_age: 14\n", "min_age: 14\n        zone: Pacific/Auckland\n", "contact.birth_date"),
        ("autocomplete: nickname", "autocomplete: name", "profile.display_name"),
        ("version: 1\n", "version: 1\nservice: Tea\n", "service"),
        ("version: 1\n", "version: 1\nafter_commit: none\n", "after_commit"),
        ("version: 1\n", "version: 1\nsign_in: [code]\n", "sign_in"),
        ("ko: 프로필}\n    editable: true\n", "ko: 프로필}\n", "editable"),
        ("    optional: true\n", "", "optional"), ("zone: Asia/Seoul", "zone: Europe/Berlin", "zone"),
        ("languages: [en, ko]", "languages: [ko, en]", "languages"),
        ("en: Sign up with", "en: New. Sign up with", "terms.terms"),
    ])
    func `flow diff compares every rule`(line: String, other: String, name: String) throws {
        let file = Repository.root.appending(path: "Sources/Accounts/Flow/signup.yaml")
        let standard = try String(contentsOf: file, encoding: .utf8)
        let changed = standard.replacing(line, with: other, maxReplacements: 1)
        #expect(changed != standard)
        let changes = FlowChange.all(
            from: try Flow(yaml: standard, file: "old.yaml"),
            to: try Flow(yaml: changed, file: "new.yaml")
        )
        #expect(changes.map(\.name) == [name])
    }

    @Test func `flow diff compares durations exactly`() throws {
        func flow(_ idle: String) throws -> Flow {
            let steps = "steps: [{name: one, title: One, fields: [{name: a, kind: text, label: A}]}]"
            return try Flow(yaml: "flow: tea\nversion: 1\ndraft: {idle: \(idle)}\n\(steps)\n", file: "flow.yaml")
        }
        #expect(FlowChange.all(from: try flow("60m"), to: try flow("90m")).map(\.text) == ["~ draft.idle: 1h → 90m"])
    }

    @Test func `flow diff tells another order of the fields of a step`() throws {
        func flow(_ fields: String...) throws -> Flow {
            let entries = fields.map { "{name: \($0), kind: text, label: A}" }.joined(separator: ", ")
            let yaml = "flow: tea\nversion: 1\nsteps: [{name: one, title: One, fields: [\(entries)]}]\n"
            return try Flow(yaml: yaml, file: "flow.yaml")
        }
        #expect(FlowChange.all(from: try flow("a", "b"), to: try flow("b", "a")).map(\.text) == ["~ fields: a b → b a"])
        let more = FlowChange.all(from: try flow("a", "b"), to: try flow("b", "c", "a")).map(\.text)
        #expect(more.count == 2 && more[0] == "~ fields: a b → b a" && more[1].hasPrefix("+ one.c: "))
        #expect(FlowChange.all(from: try flow("a", "b"), to: try flow("c", "a", "b")).map(\.name) == ["one.c"])
    }

    @Test func `flow diff compares a field with the name of a rule`() throws {
        func flow(_ rule: String, _ field: String) throws -> Flow {
            let steps = "steps: [{name: draft, title: One, fields: [{name: idle, kind: text, label: A\(field)}]}]"
            return try Flow(yaml: "flow: tea\nversion: 1\n\(rule)\(steps)\n", file: "flow.yaml")
        }
        let changes = FlowChange.all(
            from: try flow("", ""),
            to: try flow("draft: {idle: 30m}\n", ", required: false")
        )
        #expect(changes.map(\.name) == ["draft.idle", "draft.idle"])
        #expect(changes.first?.text == "~ draft.idle: 1d → 30m")
        #expect(changes.last?.new?.hasPrefix("text, optional") == true)
    }

    @Test func `flow show prints a line for each field`() async throws {
        try await withFile(Self.validFlow) { file in
            let run = try await CommandRun.of("flow", "show", "--language", "ko", settings: ["FLOW_FILE": file])
            #expect(run.status == 0)
            #expect(
                run.output == """
                    tea@2

                    STEP              FIELD  LABEL  KIND    REQUIRED  RULES
                    first (optional)  drink  음료   choice  no        choose one, options tea|coffee

                    """
            )
        }
    }

    @Test func `flow show reports an invalid file as a mistake of the setting`() async throws {
        try await withFile(Self.invalidFlow) { file in
            let run = try await CommandRun.of("flow", "show", "--flow-file", file)
            #expect(run.status == 2 && run.errorOutput == "FLOW_FILE: \(file):10: unknown kind \"chois\"\n")
        }
    }

    @Test func `flow show without a file shows the built-in flow`() async throws {
        let run = try await CommandRun.of("flow", "show", "--json")
        let shown = try JSON.read(Array(run.output.utf8))
        #expect(run.status == 0 && shown["flow"] == "default@1" && shown["service"] == "Accounts")
    }

    @Test func `a language that is not in the flow is a usage error`() async throws {
        let run = try await CommandRun.of("flow", "show", "--language", "fr")
        #expect(run.status == 2 && run.errorOutput.contains("unknown language \"fr\": pass en or ko"))
    }

    @Test func `the server does not start with an invalid flow file`() async throws {
        try await withFile(Self.invalidFlow) { file in
            let settings = [
                "FLOW_FILE": file, "DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": "", "LOG_FORMAT": "text",
            ]
            let run = try await CommandRun.of("serve", settings: settings)
            #expect(run.status != 0 && run.errorOutput.contains("\(file):10: unknown kind \"chois\""))
        }
    }
}
