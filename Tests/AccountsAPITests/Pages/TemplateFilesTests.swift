import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The built-in templates")
struct TemplateFilesTests {
    private static let folder = Repository.root.appending(path: "Sources/accounts-api/Pages/Templates")

    @Test func `the listed templates are exactly the files of the folder, with the same content`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Assets.templateFiles.map { "\($0.name).mustache" }.sorted() == files.sorted())
        for (name, bytes) in Assets.templateFiles {
            let file = try Data(contentsOf: Self.folder.appending(path: "\(name).mustache"))
            #expect(bytes == Array(file), "\(name)")
        }
    }
}
