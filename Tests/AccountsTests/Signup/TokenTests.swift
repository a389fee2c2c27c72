import Foundation
import Testing

@testable import Accounts

@Suite("The token of a draft")
struct TokenTests {
    /// A token with both characters in which base64url differs from base64.
    static let known = "AZjQ53pbfD2On6CxwtPk9fsgRWqPtNn-I_htkrfcASZLcJW63wQpTnOYveIHLFF2"

    @Test func `a token has 64 characters of base64url and begins with the id of the draft`() throws {
        for _ in 0..<200 {
            let draft = ID<Draft>()
            let token = Token(for: draft)
            #expect(token.id == draft)
            #expect(token.text.utf8.count == 64)
            #expect(token.text.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == 0x2D || $0 == 0x5F })
            let data = try #require(Self.bytes(of: token.text))
            #expect(data.count == 48 && Array(data.prefix(16)) == draft.bytes)
        }
    }

    @Test func `a token parses back from its text`() throws {
        for _ in 0..<200 {
            let token = Token(for: ID<Draft>())
            let back = try #require(Token<Draft>(token.text))
            #expect(back.text == token.text && back.hash == token.hash && back.id == token.id)
        }
    }

    @Test func `tokens of the same draft differ`() {
        let draft = ID<Draft>()
        let tokens = (0..<1000).map { _ in Token(for: draft) }
        #expect(Set(tokens.map(\.text)).count == 1000)
        #expect(Set(tokens.map(\.hash)).count == 1000)
        // Each of the 256 random bits is 0 in some tokens and 1 in others.
        let bits = tokens.compactMap { Self.bytes(of: $0.text)?.dropFirst(16) }
        #expect(bits.reduce(Array(repeating: 0, count: 32)) { zip($0, $1).map { $0 | $1 } }.allSatisfy { $0 == 255 })
        #expect(bits.reduce(Array(repeating: 255, count: 32)) { zip($0, $1).map { $0 & $1 } }.allSatisfy { $0 == 0 })
    }

    @Test(arguments: [
        (
            "AZjQ53pbfD2On6CxwtPk9fsgRWqPtNn-I0htkrfcASZLcJW63wQpTnOYveIHLFF2",
            "7bbb46ee9a9d33ebfdaccd72eb03601a50adb7a0efa4944112a5d8e3e6432b93"
        ),
        (
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4v",
            "4dbdc2b2b62cb00749785bc84202236dbc3777d74660611b8e58812f0cfde6c3"
        ),
    ])
    func `the hash of a token is the SHA-256 of all its bytes`(text: String, hash: String) throws {
        let token = try #require(Token<Draft>(text))
        #expect(token.hash.map { String(format: "%02x", $0) }.joined() == hash)
    }

    @Test func `the id of the draft is read from the first bytes`() throws {
        let token = try #require(Token<Draft>(Self.known))
        #expect(token.id.description == "0198d0e7-7a5b-7c3d-8e9f-a0b1c2d3e4f5")
    }

    @Test func `only the characters of base64url are accepted at any position`() {
        #expect(Token<Draft>(Self.known)?.text == Self.known)
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for place in [0, 1, 31, 62, 63] {
            for character in UInt8(0)...127 {
                var text = Array(Self.known.utf8)
                text[place] = character
                let token = Token<Draft>(String(decoding: text, as: UTF8.self))
                #expect((token != nil) == alphabet.contains(character), "\(character) at \(place)")
            }
        }
    }

    private static let others: [String] = [
        "", "A", "\(known)A", "\(known.dropLast())", "\(known)=", "\(known)\n", " \(known)", "\(known.dropLast(2))==",
        "\(known.dropLast())=", "é\(known.dropFirst(2))", "Ａ\(known.dropFirst(3))", "\(known.dropLast())\u{301}",
        "\"\(known.dropLast(2))\"", "\(known.dropLast(4))%3D%", "\(known)\(known)", String(repeating: "=", count: 64),
        String(repeating: "A", count: 65_536),
    ]

    @Test(arguments: others)
    func `any other text is refused`(text: String) {
        #expect(Token<Draft>(text) == nil)
    }

    private static func bytes(of text: String) -> Data? {
        Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/"))
    }
}
