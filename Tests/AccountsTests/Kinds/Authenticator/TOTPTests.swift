import Foundation
import Testing

@testable import Accounts

@Suite("TOTP codes")
struct TOTPTests {
    /// The secret of the test values in RFC 4226 and RFC 6238.
    private static let secret = Array("12345678901234567890".utf8)

    @Test func `the codes match the test values of RFC 4226`() {
        let codes = (0...9).map { TOTP.code(Self.secret, step: $0) }
        #expect(
            codes == [
                "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
            ]
        )
    }

    @Test(arguments: [
        (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"), (1_234_567_890, "89005924"),
        (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
    ])
    func `the codes match the test values of RFC 6238`(seconds: Double, code: String) {
        let instant = Date(timeIntervalSince1970: seconds)
        #expect(TOTP.code(Self.secret, step: TOTP.timeStep(at: instant), digits: 8) == code)
        #expect(TOTP.code(Self.secret, step: TOTP.timeStep(at: instant)) == String(code.suffix(6)))
        #expect(
            TOTP.timeStep(of: String(code.suffix(6)), using: Self.secret, at: instant) == TOTP.timeStep(at: instant)
        )
    }

    @Test func `only the codes of the current and the previous time step are accepted`() {
        // The codes are checked 179 seconds after 1970, one second before the end of time step 5.
        let now = Date(timeIntervalSince1970: 59)
        let accepted = (-3...4).filter {
            TOTP.timeStep(of: TOTP.code(Self.secret, step: $0 + 5), using: Self.secret, at: now + 120) != nil
        }
        #expect(accepted == [-1, 0])
        #expect(TOTP.timeStep(of: "", using: Self.secret, at: now) == nil)
        #expect(TOTP.timeStep(of: "2870821", using: Self.secret, at: now) == nil)
    }

    @Test(arguments: [
        ("", ""), ("f", "my"), ("fo", "mzxq"), ("foo", "mzxw6"), ("foob", "mzxw6yq"), ("fooba", "mzxw6ytb"),
        ("foobar", "mzxw6ytboi"), ("12345678901234567890", "gezdgnbvgy3tqojqgezdgnbvgy3tqojq"),
    ])
    func `base32 matches the test vectors of RFC 4648`(text: String, encoded: String) {
        #expect(text.utf8.base32 == encoded)
    }

    @Test func `recovery codes are long and unique`() {
        let codes = (0..<100).map { _ in RecoveryCode().text }
        #expect(codes.allSatisfy { $0.wholeMatch(of: /([a-z2-7]{4}-){5}[a-z2-7]{4}/) != nil })
        #expect(Set(codes).count == 100)
    }

    @Test func `a stored authenticator with a malformed digest is not read`() {
        func stored(_ digest: String) -> JSON {
            [
                "secret": .string(Data(repeating: 1, count: 20).base64EncodedString()), "step": 1,
                "recovery": [.string(digest)],
            ]
        }
        #expect(Authenticator(json: stored("AQID"))?.recoveryDigests == [[1, 2, 3]])
        #expect(Authenticator(json: stored("!")) == nil)
    }

    @Test func `the URI for the app names the service and the account`() {
        let enrolment = Enrolment(
            secret: Self.secret,
            issuer: "Bär & Söhne",
            account: "kim+a@example.com",
            now: Date(timeIntervalSince1970: 61)
        )
        #expect(
            enrolment.uri == """
                otpauth://totp/B%C3%A4r%20%26%20S%C3%B6hne:kim%2Ba%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\
                &issuer=B%C3%A4r%20%26%20S%C3%B6hne&algorithm=SHA1&digits=6&period=30
                """
        )
        #expect(enrolment.secondsRemaining == 29)
    }
}
