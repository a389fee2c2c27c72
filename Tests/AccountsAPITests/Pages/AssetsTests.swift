import Accounts
import Foundation
import Testing

@testable import accounts_api

@Suite("Custom assets")
struct AssetsTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "assets-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    @Test func `a custom file replaces the built-in file of the same name`() throws {
        try Data("main { color: red }".utf8).write(to: directory.appending(path: "signup.css"))
        try Data("<p>{{title}}</p>".utf8).write(to: directory.appending(path: "done.mustache"))
        let assets = try Assets(directory: directory.path)
        #expect(assets.styles.path != Assets.builtIn.styles.path && assets.script.path == Assets.builtIn.script.path)
        #expect(assets.draw("done", ["title": "a < b"]) == "<p>a &lt; b</p>")
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
