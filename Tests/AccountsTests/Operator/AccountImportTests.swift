import Testing

@testable import Accounts

@Suite("The import of accounts")
struct AccountImportTests {
    @Test func `the description of a failed hash has the error of the library`() {
        let error = Argon2Error(code: -22)
        #expect("\(ImportError.hashing(HashingError.argon2(error)))" == "cannot hash a password: \(error)")
    }

    @Test func `the description of a rejected hash says why`() {
        let error = HashingError.rejected(.busy(wait: .seconds(3)))
        let text = "cannot hash a password: too many passwords wait, or the machine is too busy"
        #expect("\(ImportError.hashing(error))" == text)
    }
}
