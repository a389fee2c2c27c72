import Testing

@testable import Accounts

@Suite("The canonical form of a password")
struct CanonicalPasswordTests {
    @Test(arguments: [
        ("correct horse battery", "correct horse battery"),
        (" not trimmed ", " not trimmed "),
        ("Case And ｗｉｄｔｈ stay", "Case And ｗｉｄｔｈ stay"),
        ("no\u{A0}break", "no break"),
        ("full\u{3000}width\u{2003}spaces", "full width spaces"),
        ("cafe\u{301}", "caf\u{E9}"),
        ("\u{1112}\u{1161}\u{11AB}글", "한글"),
        ("\u{212B}ngstr\u{F6}m", "\u{C5}ngstr\u{F6}m"),
        ("👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"),
        ("", ""),
    ])
    func `all spaces become U+0020, characters are composed, and the rest is unchanged`(typed: String, form: String)
        throws
    {
        let canonical = try PasswordRules().canonical(SharedSecret(text: typed), field: "password")
        #expect(canonical.secret.withBytes { Array($0) } == Array(form.utf8))
    }

    @Test(arguments: [
        0x00, 0x01, 0x09, 0x0A, 0x1F, 0x7F, 0x80, 0x9F, 0x2028, 0x2029, 0x202A, 0x202E, 0x2066, 0x2069, 0xFDD0, 0xFDEF,
        0xFFFE, 0xFFFF,
        0x1FFFE, 0x10FFFF,
    ])
    func `controls, line separators, noncharacters and bidirectional overrides are refused`(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(throws: Refusal("password", .badCharacters)) {
            try PasswordRules().canonical(SharedSecret(text: "before \(scalar) after"), field: "password")
        }
    }

    @Test(arguments: [0x20, 0x7E, 0xA1, 0x2027, 0x202F, 0x2065, 0x206A, 0xFDCF, 0xFDF0, 0xFFFD, 0x10000, 0x10FFFD])
    func `the code points next to the refused ones are accepted`(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        _ = try PasswordRules().canonical(SharedSecret(text: "before \(scalar) after"), field: "password")
    }

    @Test(arguments: [[0xFF], [0xC3], [0x61, 0x80], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]])
    func `bytes that are not UTF-8 are refused and not repaired`(bytes: [UInt8]) {
        #expect(throws: Refusal("password", .badCharacters)) {
            try PasswordRules().canonical(SharedSecret(Secret(bytes: bytes)), field: "password")
        }
    }

    @Test func `more than 1,024 bytes are refused before normalization`() throws {
        let rules = PasswordRules()
        _ = try rules.canonical(SharedSecret(text: String(repeating: "é", count: 512)), field: "password")
        for text in [String(repeating: "\0", count: 1_025), "a" + String(repeating: "\u{301}", count: 100_000)] {
            #expect(throws: Refusal("password", .tooLong, ["max": 256])) {
                try rules.canonical(SharedSecret(text: text), field: "password")
            }
        }
    }

    @Test func `a password that composition makes longer is accepted`() throws {
        let typed = String(repeating: "\u{1D160}", count: 256)
        let canonical = try PasswordRules().canonical(SharedSecret(text: typed), field: "password")
        #expect(canonical.secret.count == 3 * 1_024 && canonical.secret.scalarCount == 3 * 256)
    }

    @Test func `composed and decomposed input have the same hash`() throws {
        let rules = PasswordRules()
        let arena = try Arena(kibibytes: 64)
        let composed = try rules.canonical(SharedSecret(text: "mot de passé \u{AC00}"), field: "password")
        let decomposed = try rules.canonical(
            SharedSecret(text: "mot de passe\u{301} \u{1100}\u{1161}"),
            field: "password"
        )
        let phc = try Argon2.hash(composed.secret, with: Argon2Tests.cheap, in: arena)
        #expect(try Argon2.verify(decomposed.secret, against: phc, in: arena))
    }
}

@Suite("Password rules")
struct PasswordRulesTests {
    static let words = ["kim.minseo.1990@mail.example", "kim.minseo.1990", "Große Anmeldung"]

    func codes(_ password: String, rules: PasswordRules = PasswordRules()) throws -> [Refusal.Code] {
        let canonical = try rules.canonical(SharedSecret(text: password), field: "password")
        return rules.refusals(of: canonical, field: "password", context: Self.words).map(\.code)
    }

    @Test(arguments: [
        (PasswordRules(), "vx7 kiwi umbrel", "vx7 kiwi umbre"),
        (PasswordRules(), "🦊 vx7 kiwi umbr", "🦊 vx7 kiwi umb"),
        (PasswordRules(), "👨‍👩‍👧‍👦12kiwi38", "👨‍👩‍👧‍👦12kiwi3"),
        (PasswordRules(minimum: 8), "vx7 kiwi", "vx7 kiw"),
    ])
    func `the minimum is counted in code points`(rules: PasswordRules, enough: String, short: String) throws {
        #expect(try codes(enough, rules: rules) == [])
        let canonical = try rules.canonical(SharedSecret(text: short), field: "password")
        let refusals = rules.refusals(of: canonical, field: "password", context: [])
        let params: [String: JSON] = ["min": .integer(rules.minimum), "actual": .integer(rules.minimum - 1)]
        #expect(refusals == [Refusal("password", .tooShort, params)])
    }

    @Test func `the maximum is counted after composition`() throws {
        let rules = PasswordRules()
        let longest = "vx7 kiwi" + String(repeating: "e\u{301}", count: 247) + "!"
        #expect(try codes(longest) == [])
        let canonical = try rules.canonical(SharedSecret(text: longest + "!"), field: "password")
        let refusals = rules.refusals(of: canonical, field: "password", context: [])
        #expect(refusals == [Refusal("password", .tooLong, ["max": 256, "actual": 257])])
    }

    @Test(arguments: [
        "1234567890qwertyuiop", "1q2w3e4r5t6y7u8i", "Administratively", "CHARACTERISTICS",
        "aaaaaaaaaaaaaaa", "ééééééééééééééé", "한한한한한한한한한한한한한한한", "               ",
        "abcabcabcabcabc", "123412341234123", "가나다가나다가나다가나다가나다", "hunter12hunter12", "Password1passworD1",
        "basketball1basketball1", "abcdefghijklmnop", "ponmlkjihgfedcba", "uvwxyzabcdefghi", "123456789012345",
        "890123456789012", "987654321098765", "qwertyuiopasdfg", "gfdsapoiuytrewq", "1qaz2wsx3edc4rfv",
        "vfr4cde3xsw2zaq1", "!QAZ2wsx#EDC4rfv", "qazwsxedcrfvtgb", "zxcvbnm,./asdfg", "111222333444555",
        "qwerty123456789", "abcdefghasdfghi", "basketball1basketball2", "password1234567", "password123456789",
        "Password Password",
        "correct horse battery staple", "CorrectHorseBatteryStaple", "01022002sanzhar", "hakunamatata124",
        "iloveyou-1234567", "!!administrator!!", "1234qwertyuiop!", "Princess.Princess", "aaaaaaaaaaaa999",
    ])
    func `a password that attackers try early is refused as common`(password: String) throws {
        #expect(try codes(password) == [.common])
    }

    @Test(arguments: [
        "correct kiwi battery umbrella", "password 8402 7716 3391", "four plain words here", "stapler battery pony",
        "letters 4 princess",
        "vx7kiwi.9vx7kiwi.9", "abcdefghijklmnox",
        "qwertyuiopasdfgx", "acegikmoqsuwyac", "administratively so", "가나다라마바사아자차카타파하거", "Kim.minseo.1990!",
        "grosse anmeldungen",
    ])
    func `a password that only resembles a common one is accepted`(password: String) throws {
        #expect(try codes(password) == [])
    }

    @Test(arguments: [
        "kim.minseo.1990@mail.example", "KIM.MINSEO.1990@MAIL.EXAMPLE", "Kim.Minseo.1990", "große anmeldung",
        "GROSSE ANMELDUNG",
    ])
    func `a password that equals an identifier or the service name is refused`(password: String) throws {
        #expect(try codes(password) == [.containsIdentifier])
    }

    @Test func `all refusals are reported together`() throws {
        #expect(try codes("password") == [.tooShort, .common])
        #expect(try codes("") == [.tooShort])
    }
}

@Suite("The list of common passwords")
struct CommonPasswordsTests {
    /// The entries of the list. The tests do not call `#expect` for each entry, because that would take seconds.
    private static let entries = CommonPasswords.list.withUTF8Buffer { bytes in
        bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) }
    }

    @Test func `the list is sorted, lower-case, without duplicates, and long, also for the minimum length`() {
        let wrong = Self.entries.first { entry in
            !(8...CommonPasswords.longest).contains(entry.count)
                || !entry.allSatisfy { (0x20...0x7E).contains($0) && !(0x41...0x5A).contains($0) }
        }
        #expect(wrong == nil)
        #expect(zip(Self.entries, Self.entries.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
        let long = Self.entries.count { $0.count >= PasswordRules.minimumWithoutAuthenticator }
        #expect(Self.entries.count - long >= 10_000 && long >= 300_000)
    }

    @Test func `entries are found, and other texts are not`() {
        let edges = [Self.entries.prefix(50), Self.entries.suffix(50)].joined()
        let sample = stride(from: 0, to: Self.entries.count, by: 97).map { Self.entries[$0] }
        for entry in edges + sample {
            #expect(CommonPasswords.shared.contains(entry) && !CommonPasswords.shared.contains(entry + [0]))
        }
        let long = String(repeating: "a", count: CommonPasswords.longest + 1)
        for other in ["", "\n", "password\n", "\npassword", "~~~~~~~~~~~~", " ", "Password", long] {
            #expect(!CommonPasswords.shared.contains(Array(other.utf8)))
        }
    }
}
