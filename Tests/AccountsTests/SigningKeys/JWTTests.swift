import Crypto
import Foundation
import Testing

@testable import Accounts

@Suite("Signed tokens")
struct JWTTests {
    private static let payload = #"{"sub":"kim","exp":4102444800}"#
    private let keys: [SigningAlgorithm: PrivateSigningKey]

    init() throws {
        keys = try Dictionary(
            uniqueKeysWithValues: SigningAlgorithm.allCases.map { ($0, try PrivateSigningKey($0)) }
        )
    }

    private func key(_ algorithm: SigningAlgorithm) throws -> PrivateSigningKey { try #require(keys[algorithm]) }

    /// The token, verified as the service does, with the key that the token names; nil if the token is refused.
    private func read(_ text: String, as type: JWTType = .idToken) -> VerifiedJWT? {
        guard let token = JWT(text, type: type),
            let key = keys.values.first(where: { $0.publicKey.kid == token.kid })
        else { return nil }
        return token.verified(by: key.publicKey, type: type)
    }

    /// A token with this header and payload, and a right signature by the key of this algorithm.
    private func token(
        _ header: String,
        _ payload: String = Self.payload,
        by algorithm: SigningAlgorithm = .es256
    ) throws -> String {
        let signed = "\(Array(header.utf8).base64URL).\(Array(payload.utf8).base64URL)"
        return try "\(signed).\(key(algorithm).signature(of: Array(signed.utf8)).base64URL)"
    }

    /// The text with the id of the ES256 key in place of `<ES>`, and that of the RS256 key in place of `<RS>`.
    private func header(_ text: String) throws -> String {
        try text.replacing("<ES>", with: key(.es256).publicKey.kid).replacing("<RS>", with: key(.rs256).publicKey.kid)
    }

    @Test(arguments: SigningAlgorithm.allCases, JWTType.allCases)
    func `a token is accepted only as the type for which it was signed`(
        algorithm: SigningAlgorithm,
        type: JWTType
    ) throws {
        let claims: [JSON.Member] = [.init("sub", "kim"), .init("exp", 4_102_444_800)]
        let text = try JWT.sign(claims, type: type, by: key(algorithm))
        let use: [JSON.Member] = type == .identity ? [.init("token_use", "identity")] : []
        #expect(read(text, as: type)?.claims == .object(use + claims))
        for other in JWTType.allCases where other != type { #expect(read(text, as: other) == nil, "\(other)") }
    }

    @Test func `the tokens that these tests write are accepted if their header is right`() throws {
        let es = try token(header(#"{"alg":"ES256","kid":"<ES>","typ":"JWT"}"#))
        #expect(read(es)?.claims["sub"] == "kim")
        let rs = try token(header(#"{"alg":"RS256","kid":"<RS>","typ":"JWT"}"#), by: .rs256)
        #expect(read(rs)?.claims["sub"] == "kim")
    }

    @Test(arguments: [
        #"{"alg":"none","kid":"<ES>","typ":"JWT"}"#, #"{"alg":"None","kid":"<ES>","typ":"JWT"}"#,
        #"{"alg":"HS256","kid":"<ES>","typ":"JWT"}"#, #"{"alg":"ES384","kid":"<ES>","typ":"JWT"}"#,
        #"{"alg":"PS256","kid":"<ES>","typ":"JWT"}"#, #"{"alg":"es256","kid":"<ES>","typ":"JWT"}"#,
        #"{"alg":"RS256","kid":"<ES>","typ":"JWT"}"#, #"{"alg":"ES256","kid":"<RS>","typ":"JWT"}"#,
        #"{"alg":"ES256","kid":"another","typ":"JWT"}"#, #"{"alg":"ES256","kid":"","typ":"JWT"}"#,
        #"{"alg":"ES256","kid":"<ES>","typ":"jwt"}"#, #"{"alg":"ES256","kid":"<ES>","typ":"at+jwt"}"#,
        #"{"alg":"ES256","kid":"<ES>","typ":null}"#, #"{"alg":"ES256","kid":"<ES>"}"#, #"{"alg":"ES256","typ":"JWT"}"#,
        #"{"alg":["ES256"],"kid":"<ES>","typ":"JWT"}"#, #"{"alg":"ES256","kid":["<ES>"],"typ":"JWT"}"#,
        #"{"alg":"ES256","kid":"<ES>","typ":"JWT","crit":["exp"]}"#,
        #"{"alg":"ES256","kid":"<ES>","typ":"JWT","b64":false}"#,
        #"{"alg":"ES256","kid":"<ES>","typ":"JWT","jku":"https://evil.example/keys"}"#,
        #"{"alg":"ES256","kid":"<ES>","typ":"JWT","jwk":{"kty":"oct","k":"AAAA"}}"#,
        #"{"alg":"ES256","kid":"<ES>","typ":"JWT","x5u":"https://evil.example/chain"}"#,
        #"{"alg":"ES256","kid":"<ES>","typ":"JWT","x5c":["AAAA"]}"#,
        #"{"alg":"none","alg":"ES256","kid":"<ES>","typ":"JWT"}"#, #"{"alg":"ES256","kid":"<ES>","kid":"<ES>"}"#,
        #"["ES256","<ES>","JWT"]"#, "null", "", "{",
    ])
    func `a token with another header is refused, even with a right signature`(text: String) throws {
        #expect(read(try token(header(text))) == nil)
    }

    @Test(arguments: [
        #"{"sub":"kim","sub":"lee"}"#, #"{"sub":"kim","s\u0075b":"lee"}"#, #"["kim"]"#, #""kim""#, "", #"{"sub":"kim""#,
        #"{"sub":"kim","token_use":"identity"}"#, #"{"sub":"kim","token_use":null}"#, "{\"sub\":\"kim\"}\u{0}",
    ])
    func `a token with a malformed payload is refused, even with a right signature`(payload: String) throws {
        let token = try token(header(#"{"alg":"ES256","kid":"<ES>","typ":"JWT"}"#), payload)
        #expect(read(token) == nil)
    }

    @Test(arguments: ["none", "HS256"])
    func `a token without a signature, or with one by the public key as a secret, is refused`(algorithm: String) throws
    {
        for key in keys.values {
            let header = #"{"alg":"\#(algorithm)","kid":"\#(key.publicKey.kid)","typ":"JWT"}"#
            let signed = "\(Array(header.utf8).base64URL).\(Array(Self.payload.utf8).base64URL)"
            let secret = SymmetricKey(data: key.publicKey.jwk.bytes)
            let code = Array(HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: secret))
            #expect(read("\(signed).\(code.base64URL)") == nil)
            #expect(read("\(signed).") == nil)
            #expect(read(signed) == nil)
        }
    }

    @Test(arguments: SigningAlgorithm.allCases)
    func `a token with other bytes is refused`(algorithm: SigningAlgorithm) throws {
        let text = try JWT.sign([.init("sub", "kim")], type: .idToken, by: key(algorithm))
        let parts = text.split(separator: ".").map(String.init)
        let other = Array(#"{"sub":"lee"}"#.utf8).base64URL
        let signature = try #require([UInt8].fromBase64URL(Array(parts[2].utf8)))
        let forged = [
            "\(parts[0]).\(other).\(parts[2])", "\(parts[0]).\(parts[1])", "\(text).", ".\(text)",
            "\(text).\(parts[2])",
            "\(parts[0]).\(parts[1]).", "..", "", ".", "\(text)\n", " \(text)", "\(text)=", "\(text)A",
            "\(parts[0]).\(parts[1]).\(Array(signature.dropLast()).base64URL)",
            "\(parts[0]).\(parts[1]).\((signature + [0]).base64URL)",
            "\(parts[0]).\(parts[1]).\([UInt8](repeating: 0, count: signature.count).base64URL)",
        ]
        #expect(read(text) != nil)
        for text in forged { #expect(read(text) == nil, "\(text)") }
    }

    @Test func `a signature is accepted in only one spelling`() throws {
        let text = try JWT.sign([.init("sub", "kim")], type: .idToken, by: key(.es256))
        // A signature of 64 bytes leaves four bits of the last character unused.
        let last = try #require(text.last)
        let next: [Character: Character] = ["A": "B", "Q": "R", "g": "h", "w": "x"]
        #expect(read(String(text.dropLast()) + String(try #require(next[last]))) == nil)
    }

    @Test(
        arguments: [
            ("", []), ("-_8", [0xFB, 0xFF]), ("AA", [0]), ("AAAA", [0, 0, 0]), ("+/8", nil), ("-_9", nil),
            ("-_8=", nil),
            ("AB", nil), ("A", nil), ("AAAAA", nil), ("-_ 8", nil), ("-_8\n", nil), ("é", nil), ("A===", nil),
        ] as [(String, [UInt8]?)]
    )
    func `base64url has no padding, no other alphabet and no unused bits`(text: String, bytes: [UInt8]?) {
        #expect([UInt8].fromBase64URL(Array(text.utf8)) == bytes)
        if let bytes { #expect(bytes.base64URL == text) }
    }

    @Test func `a token of more than 8 KiB is refused`() throws {
        func text(_ count: Int) throws -> String {
            let claims = [JSON.Member("sub", .string(String(repeating: "k", count: count)))]
            return try JWT.sign(claims, type: .idToken, by: key(.es256))
        }
        let (short, long) = (try text(5900), try text(6100))
        #expect(short.utf8.count < 8192 && read(short) != nil)
        #expect(long.utf8.count > 8192 && read(long) == nil)
    }

    @Test func `the first of several claims with the same name is signed`() throws {
        let claims: [JSON.Member] = [
            .init("sub", "kim"), .init("sub", "lee"), .init("token_use", "identity"), .init("name", "Kim"),
        ]
        let text = try JWT.sign(claims, type: .idToken, by: key(.es256))
        #expect(read(text)?.claims == .object([.init("sub", "kim"), .init("name", "Kim")]))
    }

    @Test(arguments: [(nil, true), (99, true), (100, true), (101, false), (.string("101"), true)] as [(JSON?, Bool)])
    func `a token has expired unless its exp is a number in the future`(end: JSON?, isExpired: Bool) {
        let token = VerifiedJWT(claims: .object(end.map { [JSON.Member("exp", $0)] } ?? []))
        #expect(token.isExpired(at: 100) == isExpired)
    }

    @Test func `the kid is the thumbprint of RFC 7638`() {
        // The key and its thumbprint are the example of RFC 7638 §3.1.
        let n = """
            0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n\
            3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgd\
            AZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur\
            -kEgU8awapJzKnqDKgw
            """
        let kid = "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"
        func jwk(_ kid: String) -> JSON {
            [
                "e": "AQAB", "kty": "RSA", "n": .string(n), "alg": "RS256", "kid": .string(kid), "use": "sig",
            ]
        }
        #expect(PublicSigningKey(jwk(kid))?.kid == kid)
        #expect(PublicSigningKey(jwk("another")) == nil)
    }

    @Test(arguments: SigningAlgorithm.allCases)
    func `a key is the same after it was stored`(algorithm: SigningAlgorithm) throws {
        let key = try key(algorithm)
        let stored = try PrivateSigningKey(algorithm, derRepresentation: key.derRepresentation)
        #expect(stored.publicKey.jwk == key.publicKey.jwk)
        let text = key.publicKey.jwk.text
        #expect(PublicSigningKey(try JSON.read(Array(text.utf8)))?.kid == key.publicKey.kid)
        for name in ["d", "p", "q", "dp", "dq", "qi", "k"] { #expect(key.publicKey.jwk[name] == nil) }
    }
}
