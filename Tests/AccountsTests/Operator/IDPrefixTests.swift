import Testing

@testable import Accounts

@Suite("The first digits of an id")
struct IDPrefixTests {
    @Test(arguments: [
        ("01a1fd", "01a1fd00-0000-0000-0000-000000000000", "01a1fdff-ffff-ffff-ffff-ffffffffffff"),
        ("01A1FDB2-1", "01a1fdb2-1000-0000-0000-000000000000", "01a1fdb2-1fff-ffff-ffff-ffffffffffff"),
        ("01a1fdb2-", "01a1fdb2-0000-0000-0000-000000000000", "01a1fdb2-ffff-ffff-ffff-ffffffffffff"),
        (
            "01a1fdb211177906a19783af84022e4d", "01a1fdb2-1117-7906-a197-83af84022e4d",
            "01a1fdb2-1117-7906-a197-83af84022e4d"
        ),
    ])
    func `the first digits determine the range of matching ids`(text: String, first: String, last: String) throws {
        let prefix = try #require(IDPrefix<Account>(text))
        #expect("\(prefix.first)" == first && "\(prefix.last)" == last)
    }

    @Test(arguments: [
        "", "01a1f", "01a1fg", "01a1-fd", "-01a1fd", "01a1fdb21-1", "０１ａ１ｆｄ", "01a1fdb211177906a19783af84022e4d0",
    ])
    func `a text that cannot be the beginning of an id is refused`(text: String) {
        #expect(IDPrefix<Account>(text) == nil)
    }
}
