import Testing

@testable import Accounts

@Suite("The back-off of a lane")
struct BackOffTests {
    @Test(
        arguments: [
            (1, 25...50), (2, 50...100), (3, 100...200), (4, 200...400), (5, 400...800), (6, 800...1600),
            (7, 1000...2000), (8, 1000...2000), (1000, 1000...2000), (.max, 1000...2000),
        ] as [(Int, ClosedRange<Int32>)]
    )
    func `the back-off doubles with each failure up to two seconds, and half of it is random`(
        failures: Int,
        milliseconds: ClosedRange<Int32>
    ) {
        #expect(Lane.backOff(after: failures) == milliseconds)
    }
}
