import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Hashes of other systems", .timeLimit(.minutes(30)))
struct ImportedHashTests {
    private static let cheap = Argon2Tests.cheap

    private func pool() throws -> HashingPool { try HashingPool(parameters: Self.cheap, workers: 1, queue: 4) }

    private func bytes(of secret: consuming Secret?) -> [UInt8]? {
        guard let secret else { return nil }
        return secret.withBytes(Array.init)
    }

    @Test(arguments: HashOfOtherTool.all)
    func `the password that another tool has hashed is right, and any other is wrong`(hash: HashOfOtherTool)
        async throws
    {
        let (pool, pepper) = (try pool(), try #require(try KeyRing(TestSignups.keys).pepper))
        defer { pool.shutdown() }
        let stored = try await pool.wrap(ImportedHash(hash.text), pepper: pepper)
        let again = try #require(StoredPassword(stored.rawValue))
        #expect(again == stored && again.argon2.keyID == pepper.id)
        let right = SharedSecret(text: HashOfOtherTool.password)
        #expect(try await pool.check(right, against: again, pepper: pepper).isRight)
        let wrong = SharedSecret(text: HashOfOtherTool.password + "x")
        #expect(try await !pool.check(wrong, against: again, pepper: pepper).isRight)
        #expect(again.needsRehash(for: Self.cheap, with: pepper))
    }

    @Test(arguments: HashOfOtherTool.all)
    func `the stored hash does not contain the imported hash`(hash: HashOfOtherTool) async throws {
        let pool = try pool()
        defer { pool.shutdown() }
        let imported = try ImportedHash(hash.text)
        let stored = try await pool.wrap(imported, pepper: nil).rawValue
        #expect(!stored.contains(hash.text.suffix(20)))
        #expect(!stored.contains(Data(imported.output).base64EncodedString().dropLast(2)))
    }

    /// crypt(3) writes zeros as the unused bits of the last characters of salt and hash, whatever they were.
    @Test func `the password of a bcrypt hash with other unused bits is right`() throws {
        let written = try ImportedHash("$2b$05$f/UELHl5XkxHPtse1qz0YuV/ITUtFW/fm1vwh1Rozp3ARCGiralJu")
        let imported = try ImportedHash("$2b$05$f/UELHl5XkxHPtse1qz0YvV/ITUtFW/fm1vwh1Rozp3ARCGiralJv")
        #expect(imported.output == written.output && imported.method.salt == written.method.salt)
        #expect(bytes(of: imported.method.output(of: Secret(text: HashOfOtherTool.password))) == imported.output)
    }

    /// crypt(3) would cut a password at a NUL, and would take long for one of more than 256 bytes.
    @Test(arguments: ["right\0", "right\0wrong", String(repeating: "a", count: 257)])
    func `a password with a NUL or of more than 256 bytes is wrong`(password: String) throws {
        let setting = "$6$rounds=1000$salt$"
        let method = try #require(ImportedHash.method(of: "crypt,$6$rounds=1000$", salt: Array("salt".utf8)))
        #expect(bytes(of: method.output(of: Secret(text: "right")))?.starts(with: setting.utf8) == true)
        #expect(bytes(of: method.output(of: Secret(text: password))) == nil)
    }

    @Test func `an empty password is wrong for every method, and causes no crash`() throws {
        for hash in HashOfOtherTool.all {
            let imported = try ImportedHash(hash.text)
            #expect(bytes(of: imported.method.output(of: Secret(text: ""))) != imported.output)
        }
    }

    private static let salt = "rs.DWfbGJ9zUXBAq/7k3b/"
    private static let result = String(repeating: "a", count: 43)

    @Test(arguments: [
        "$2b$15$\(String(repeating: "a", count: 53))",
        "$6$rounds=1000001$salt$\(String(repeating: "a", count: 86))",
        "$y$jFT$\(salt)$\(result)",
        "pbkdf2_sha256$2000001$salt$\(result)=",
        "pbkdf2:sha512:2000001$salt$\(String(repeating: "ab", count: 32))",
        "$scrypt$ln=18,r=8,p=1$c2FsdHNhbHQ$\(result)",
        "$scrypt$ln=63,r=8,p=1$c2FsdHNhbHQ$\(result)",
        "scrypt:131072:8:5$salt$\(String(repeating: "ab", count: 32))",
        "$argon2id$v=19$m=131073,t=1,p=1$c2FsdHNhbHQ$\(result)",
        "$argon2id$v=19$m=65536,t=9,p=1$c2FsdHNhbHQ$\(result)",
        "$argon2id$v=19$m=65536,t=1,p=17$c2FsdHNhbHQ$\(result)",
    ])
    func `a hash that costs too much is refused before it is computed`(text: String) {
        #expect(throws: ImportedHashError.tooCostly) { try ImportedHash(text) }
    }

    @Test(arguments: [
        "", "password", "5f4dcc3b5aa765d61d8327deb882cf99", "$apr1$Hq2cKVK1$rzaMs5mS9Qa8nOAvVX0ic.",
        "rqXexS6ZhobKA", "$P$BPlIiO5xdHmThnjjSyJ1jBICfPkpay1", "md5$salt$67a1e09bb1f83f5007dc119c14d663aa",
        "{SSHA}0c0blFTXXNuAMHECS4uxrj3ZieMoWImr", "$argon2id$v=16$m=65536,t=1,p=1$c2FsdHNhbHQ$\(result)",
        "pbkdf2_sha1$1000$salt$\(result)=", "$argon2i$m=65536,t=2,p=1$c2FsdHNhbHQ$\(result)",
    ])
    func `a hash of an unknown method is refused`(text: String) {
        #expect(throws: ImportedHashError.unsupported) { try ImportedHash(text) }
    }

    @Test(arguments: [
        "$2b$10$", "$2b$1$\(String(repeating: "a", count: 53))", "$2b$10$\(String(repeating: "a", count: 52))",
        "$2b$10$\(String(repeating: "a", count: 52))ä", "$2b$10$\(String(repeating: "a", count: 52)):",
        "$6$$\(String(repeating: "a", count: 86))", "$6$salt$\(String(repeating: "a", count: 85))",
        "$6$rounds=05000$salt$\(String(repeating: "a", count: 86))", "$y$j9$\(salt)$\(result)",
        "$5$rounds=999$salt$\(result)", "$6$rounds=0$salt$\(String(repeating: "a", count: 86))",
        "$6$salt|\(String(repeating: "a", count: 86))", "$1$salt$aaaa\naaaaaaaaaaaaaaaaa",
        "pbkdf2_sha256$1000$$\(result)=", "pbkdf2_sha256$0$salt$\(result)=", "pbkdf2_sha256$-1$salt$\(result)=",
        "pbkdf2_sha256$1000$salt$\(result)=$", "pbkdf2_sha256$1000$salt$YQ==", "pbkdf2:sha256$salt$abab",
        "scrypt:1000:8:1$salt$\(String(repeating: "ab", count: 32))",
        "scrypt:1024:0:1$salt$\(String(repeating: "ab", count: 32))",
        "scrypt:1024:8:1$salt$\(String(repeating: "ag", count: 32))",
        "$argon2id$v=19$m=8,t=1,p=2$c2FsdHNhbHQ$\(result)", "$argon2id$v=19$m=64,t=0,p=1$c2FsdHNhbHQ$\(result)",
        "$argon2id$v=19$m=64,t=1,p=1$c2E$\(result)", "$argon2id$v=19$m=64,t=1,p=1,x=2$c2FsdHNhbHQ$\(result)",
        "$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$\(result)=x",
        "$2b$10$\(String(repeating: "a", count: 600))", "a password",
        "scrypt:1024:8:1$$\(String(repeating: "ab", count: 32))",
        "bcrypt$x2b$10$\(String(repeating: "a", count: 53))", "bcrypt$2b$10$\(String(repeating: "a", count: 53))",
        "bcrypt_sha256$x2b$10$\(String(repeating: "a", count: 53))", "bcrypt$",
        "$5$\(String(repeating: "a", count: 17))$\(result)", "$1$saltsalts$\(String(repeating: "a", count: 22))",
        "$6$rounds=1000$\(String(repeating: "a", count: 17))$\(String(repeating: "a", count: 86))",
        "$y$j9T$\(String(repeating: ".", count: 87))$\(result)",
    ])
    func `a malformed hash is refused`(text: String) {
        #expect(throws: ImportedHashError.malformed) { try ImportedHash(text) }
    }

    /// BoringSSL cannot compute these hashes with the memory that swift-crypto allows it.
    @Test(arguments: ["$scrypt$ln=14,r=32,p=1$c2FsdHNhbHQ$\(result)", "$scrypt$ln=16,r=1,p=8$c2FsdHNhbHQ$\(result)"])
    func `a hash that the service could never check is refused`(text: String) {
        #expect(throws: ImportedHashError.unsupported) { try ImportedHash(text) }
    }

    @Test(arguments: [
        "$scrypt$ln=14,r=16,p=1$c2FsdHNhbHQ$\(result)", "$scrypt$ln=10,r=32,p=2$c2FsdHNhbHQ$\(result)",
        "$scrypt$ln=15,r=1,p=1$c2FsdHNhbHQ$\(result)", "$argon2id$v=19$m=64,t=100,p=8$c2FsdHNhbHQ$\(result)",
    ])
    func `a hash at the bounds can be checked`(text: String) throws {
        let method = try ImportedHash(text).method
        #expect(bytes(of: method.output(of: Secret(text: "right")))?.count == 32)
    }

    /// An operator who can write to the database could store such kinds, and every server computes the kinds that it
    /// finds.
    @Test(arguments: [
        "crypt,$2b$31$", "crypt,$6$rounds=999999999$", "crypt,$y$jFT$", "crypt,$9$", "pbkdf2,sha256,-1,32",
        "pbkdf2,sha256,99999999999,32", "pbkdf2,sha256,1000,-1", "scrypt,3,8,1,32", "scrypt,1073741824,8,1,32",
        "scrypt,1024,8,1,9999999999", "argon2id,-1,1,1,32", "argon2id,99999999999,1,1,32", "argon2id,64,1,1,0",
        "argon2id,64,9999999999999,1,32", "argon2id,64,-1,1,32",
    ])
    func `a stored kind beyond the bounds is refused`(kind: String) {
        let salt = "YWFhYWFhYWFhYWFhYWFhYQ=="
        #expect(StoredPassword("crypt,$2b$05$|\(salt)|\(Argon2Tests.known)") != nil)
        #expect(StoredPassword("\(kind)|\(salt)|\(Argon2Tests.known)") == nil)
    }

    @Test(arguments: ["|", "crypt,$6$|c2FsdA==|x|", "des,|c2FsdA==|", "crypt,$6$|c2FsdA|", "pbkdf2,md5,1,32|c2FsdA==|"])
    func `a stored text in another form is refused`(prefix: String) {
        #expect(StoredPassword(Argon2Tests.known) != nil)
        #expect(StoredPassword(prefix + Argon2Tests.known) == nil)
    }
}
