import Accounts
import Foundation
import Testing

@testable import accounts_api

@Suite("Files of the pages that an operator brings")
struct AssetsTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "assets-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    @Test func `count instead of those that are built in`() throws {
        try Data("main { color: red }".utf8).write(to: directory.appending(path: "signup.css"))
        try Data("<p>{{title}}</p>".utf8).write(to: directory.appending(path: "done.mustache"))
        let assets = try Assets(directory: directory.path)
        #expect(assets.styles.path != Assets.builtIn.styles.path && assets.script.path == Assets.builtIn.script.path)
        #expect(assets.draw("done", ["title": "a < b"]) == "<p>a &lt; b</p>")
    }

    @Test func `replace the script as one file`() throws {
        try Data("\"use strict\";".utf8).write(to: directory.appending(path: "signup.js"))
        let assets = try Assets(directory: directory.path)
        #expect(assets.script.path != Assets.builtIn.script.path && assets.styles.path == Assets.builtIn.styles.path)
    }

    @Test func `are refused where they are no templates`() throws {
        try Data("{{#open}}".utf8).write(to: directory.appending(path: "done.mustache"))
        #expect(throws: AssetsError.self) { try Assets(directory: directory.path) }
        #expect(throws: AssetsError.self) { try Assets(directory: "/nowhere") }
    }
}
