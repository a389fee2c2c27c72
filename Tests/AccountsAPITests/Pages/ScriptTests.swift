import Accounts
import Testing

@testable import accounts_api

@Suite("The built-in script")
struct ScriptTests {
    private let script = String(decoding: Assets.builtInScript, as: UTF8.self)

    @Test func `the script is joined without comments, empty lines and indentation`() {
        let parts = ["// Why.\n\"use strict\";\n", "\n/// Adds one.\nfunction f(a) {\n  return a + 1; // here\n}"]
        #expect(
            Assets.joinScript(parts.map { Array($0.utf8) })
                == "\"use strict\";\nfunction f(a) {\nreturn a + 1; // here\n}\n"
        )
    }

    @Test func `no string or comment of the script spans lines, so joining changes nothing`() {
        #expect(!script.contains("/*"))
        for line in script.split(separator: "\n") { #expect(line.count { $0 == "`" }.isMultiple(of: 2), "\(line)") }
    }

    @Test func `the script is strict from its first line and smaller than 31 KB`() {
        #expect(script.hasPrefix("\"use strict\";\n") && script.utf8.count < 31_000)
    }

    @Test func `the script names no kind of field`() {
        for kind in KindList.names { #expect(!script.contains("\"\(kind)\""), "\(kind)") }
        #expect(!script.contains(".kind"))
    }

    @Test(arguments: Assets.templateNames.filter { $0.hasPrefix("field-") })
    func `the template of each field says how the script reads its answer`(template: String) {
        let html = Assets.builtIn.draw(template, ["answer_type": "integer"])
        let type = html.firstMatch(of: /data-answer="([a-z]+)"/)?.1
        #expect(type.map { ["string", "integer", "boolean", "array", "file"].contains($0) } == true)
        #expect(html.contains("data-live-check=") != html.contains("data-cut"))
    }
}
