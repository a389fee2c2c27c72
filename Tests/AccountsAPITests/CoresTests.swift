import Testing

@testable import accounts_api

@Suite("How many processors there are")
struct CoresTests {
    @Test(arguments: [
        ("200000 100000\n", 2), ("150000 100000\n", 2), ("50000 100000\n", 1), ("max 100000\n", nil), ("", nil),
        ("0 0", nil),
    ])
    func `a control group bounds them`(text: String, cores: Int?) {
        #expect(Cores.allowed(by: text) == cores)
    }

    @Test func `there is at least one`() {
        #expect(Cores.available >= 1)
    }
}
