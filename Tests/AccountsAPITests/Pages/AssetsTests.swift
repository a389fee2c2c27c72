import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("Custom assets")
struct AssetsTests {
    /// A temporary folder. It is deleted together with this object.
    private final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory.appending(path: "assets-\(UUID())")

        init() throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: url) }
    }

    private let folder: Folder
    private var directory: URL { folder.url }

    init() throws {
        folder = try Folder()
    }

    private static func source(_ name: String) throws -> String {
        let file = Repository.root.appending(path: "Sources/accounts-api/Pages/\(name)")
        return try String(contentsOf: file, encoding: .utf8)
    }

    @Test func `a custom file replaces the built-in file of the same name`() throws {
        try Data("main { color: red }".utf8).write(to: directory.appending(path: "signup.css"))
        try Data("<p>{{title}}</p>".utf8).write(to: directory.appending(path: "done.mustache"))
        let assets = try Assets(directory: directory.path)
        #expect(assets.styles.path != Assets.builtIn.styles.path && assets.script.path == Assets.builtIn.script.path)
        #expect(assets.draw("done", ["title": "a < b"]) == "<p>a &lt; b</p>")
    }

    @Test func `the custom properties stand before the rules, and can be replaced alone`() throws {
        let (properties, rules) = try (Self.source("properties.css"), Self.source("signup.css"))
        #expect(Assets.builtIn.styleSheet == "\(properties)\n\(rules)")
        let own = ":root { --accent: red }"
        try Data(own.utf8).write(to: directory.appending(path: "properties.css"))
        let assets = try Assets(directory: directory.path)
        #expect(assets.styleSheet == "\(own)\n\(rules)" && assets.styles.path != Assets.builtIn.styles.path)
    }

    @Test func `a byte order mark at the beginning of a file does not become part of a rule`() throws {
        let own = ":root { --accent: red }"
        for name in ["properties.css", "signup.css"] {
            try Data([0xEF, 0xBB, 0xBF] + own.utf8).write(to: directory.appending(path: name))
        }
        #expect(
            try Assets(directory: directory.path).styleSheet.unicodeScalars.elementsEqual(
                "\(own)\n\(own)".unicodeScalars
            )
        )
    }

    @Test func `the document of the pages lists exactly the properties of properties.css`() throws {
        let file = Repository.root.appending(path: "docs/pages.md")
        let rows = try String(contentsOf: file, encoding: .utf8).matches(of: /(?m)^\| (`--[^|]*) \|/).map { $0.1 }
        let listed = rows.flatMap { $0.matches(of: /(--[a-z-]+)/).map { String($0.1) } }
        let declared = try Self.source("properties.css").matches(of: /(?m)^ +(--[a-z-]+):/).map { String($0.1) }
        #expect(listed.count == Set(listed).count && Set(listed) == Set(declared))
    }

    @Test func `a custom signup.js replaces the whole script`() throws {
        try Data("\"use strict\";".utf8).write(to: directory.appending(path: "signup.js"))
        let assets = try Assets(directory: directory.path)
        #expect(assets.script.path != Assets.builtIn.script.path && assets.styles.path == Assets.builtIn.styles.path)
    }

    @Test func `an invalid template and a missing folder are refused`() throws {
        try Data("{{#open}}".utf8).write(to: directory.appending(path: "done.mustache"))
        #expect(throws: AssetsError.self) { try Assets(directory: directory.path) }
        #expect(throws: AssetsError.self) { try Assets(directory: "/nowhere") }
    }
}
