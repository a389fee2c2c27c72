import Foundation
import Testing

@testable import accounts_api

@Suite("HTTP Basic")
struct BasicCredentialsTests {
    private func read(_ pair: String) -> BasicCredentials? {
        BasicCredentials("Basic \(Data(pair.utf8).base64EncodedString())")
    }

    @Test(arguments: [
        ("shop:secret", "shop", "secret"), ("shop:a:b", "shop", "a:b"), ("shop:", "shop", ""),
        ("a+b%3Ac:%2B", "a b:c", "+"),
    ])
    func `a name and a password are read as a form has them`(pair: String, name: String, password: String) throws {
        let credentials = try #require(read(pair))
        #expect(credentials.name == name && credentials.password == password)
    }

    @Test(arguments: ["shop", "", "shop:%", "shop:%FF"])
    func `a malformed pair is refused`(pair: String) {
        #expect(read(pair) == nil)
    }

    @Test func `texts that take too long to compare are refused`() {
        let marks = { String(repeating: "\u{344}\u{316}", count: $0) }
        let escaped = { String(repeating: "%CD%84%CC%96", count: $0) }
        #expect(read("a\(marks(15)):b") != nil && read("a\(escaped(15)):b") != nil)
        for text in [marks(16), escaped(16)] { #expect(read("a\(text):b") == nil && read("a:b\(text)") == nil) }
    }
}
