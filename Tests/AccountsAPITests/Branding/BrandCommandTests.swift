import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The brand command", .timeLimit(.minutes(30)))
struct BrandCommandTests {
    private static let example = "examples/brand/brand.yaml"

    @Test func `brand check prints the colours and their contrast`() async throws {
        let run = try await CommandRun.of("brand", "check", Self.example)
        #expect(run.status == 0 && run.errorOutput.isEmpty)
        #expect(run.output.hasPrefix("\(Self.example) is valid\n\nCOLOR       LIGHT    DARK\n"))
        #expect(run.output.contains("\naccent on card       5.47   11.19  4.5\n"))
        let json = try await CommandRun.of("brand", "check", "--json", settings: ["BRAND_FILE": Self.example])
        #expect(json.status == 0)
        let verdict = try json.json
        #expect(verdict["valid"] == true && verdict["name"] == "Example Tea")
        guard case .array(let contrasts)? = verdict["contrasts"], case .array(let colours)? = verdict["colors"] else {
            Issue.record("\(json.output)")
            return
        }
        #expect(contrasts.count == ContrastPair.all.count)
        let accent: JSON = ["name": "accent", "light": "#0f766e", "dark": "#5eead4"]
        #expect(colours.first == accent)
    }

    @Test func `brand check reports all mistakes, and the server does not start with them`() async throws {
        let yaml = "colours: {}\ncolors: {light: {muted: '#999999'}}\n"
        let reasons = [
            (1, "unknown key \"colours\""),
            (2, "\"muted\" on the built-in \"card\" has a contrast of 2.84 in light mode; it needs at least 4.5"),
        ]
        try await withFile(yaml, named: "brand.yaml") { file in
            let run = try await CommandRun.of("brand", "check", file)
            #expect(run.status == 1 && run.output.isEmpty)
            #expect(run.errorOutput == reasons.map { "\(file):\($0.0): \($0.1)\n" }.joined())
            let mistakes = reasons.map { line, reason -> JSON in
                ["file": .string(file), "line": .integer(line), "reason": .string(reason)]
            }
            let json = try await CommandRun.of("brand", "check", file, "--json")
            #expect(json.status == 1 && json.errorOutput.isEmpty)
            let verdict = try json.json
            #expect(verdict == ["valid": false, "mistakes": .array(mistakes)])
            let server = try await CommandRun.of(
                "serve",
                settings: [
                    "DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys, "BRAND_FILE": file,
                    "LOG_FORMAT": "text",
                ]
            )
            #expect(server.status == 2)
            #expect(server.errorOutput == reasons.map { "BRAND_FILE: \(file):\($0.0): \($0.1)\n" }.joined())
        }
    }

    @Test func `without a file, the command names the setting`() async throws {
        let run = try await CommandRun.of("brand", "check")
        #expect(run.status == 2 && run.errorOutput == "no brand file: pass FILE, or set BRAND_FILE\n")
        let nowhere = try await CommandRun.of("brand", "check", "/nowhere/brand.yaml")
        #expect(nowhere.status == 1)
        #expect(nowhere.errorOutput == "/nowhere/brand.yaml: cannot read the file: No such file or directory\n")
    }

    @Test func `the name of the brand takes the place of SERVICE_NAME`() throws {
        let path = Repository.root.appending(path: Self.example).path
        let environment = [
            "DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys, "SERVICE_NAME": "Acme",
            "BRAND_FILE": path,
        ]
        #expect(try Settings(SettingSource(environment: environment)).serviceName == "Example Tea")
    }
}
