import Testing

@testable import Accounts

@Suite("Refresh tokens of one authorization")
struct RefreshTokensTests {
    /// One minute in milliseconds.
    private static let minute = 60_000

    @Test func `each token gets one successor`() {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        for number in 0..<5 { #expect(tokens.present(number, at: number * Self.minute) == .exchanged(number + 1)) }
        #expect(tokens.newest == 5 && tokens.exchanges.count == 1)
    }

    @Test func `a token that is presented again within half a minute returns the same successor`() {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        #expect(tokens.present(0, at: 0) == .exchanged(1))
        #expect(tokens.present(1, at: 10) == .exchanged(2))
        #expect(tokens.present(0, at: 20) == .repeated(1))
        #expect(tokens.present(1, at: 30_010) == .repeated(2))
        #expect(tokens.newest == 2)
    }

    /// All tabs share one stored token. In each rotation, every tab refreshes with it within half a minute.
    @Test func `fifty tabs and a thousand rotations leave one live token`() {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        for rotation in 0..<1000 {
            let outcomes = (0..<50).map { tab in
                tokens.present(rotation, at: rotation * Self.minute + tab * 500)
            }
            #expect(outcomes.first == .exchanged(rotation + 1))
            #expect(outcomes.dropFirst().allSatisfy { $0 == .repeated(rotation + 1) })
        }
        #expect(tokens.newest == 1000 && tokens.exchanges.count == 1)
    }

    @Test func `a client that has lost the answer gets another successor, and the lost one is invalid`() {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        #expect(tokens.present(0, at: 0) == .exchanged(1))
        #expect(tokens.present(0, at: Self.minute) == .exchanged(2))
        #expect(tokens.present(1, at: Self.minute) == .reused)
        #expect(tokens.present(2, at: Self.minute) == .exchanged(3))
    }

    @Test func `a token that was replaced long ago, or was never issued, is reported as reused`() {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        for number in 0..<3 { _ = tokens.present(number, at: number * Self.minute) }
        for number in [0, 1, 4, 1000] {
            var copy = tokens
            #expect(copy.present(number, at: 3 * Self.minute) == .reused, "token \(number)")
            #expect(copy == tokens)
        }
    }

    /// A theft is detected when the thief and the owner have both refreshed once more. The exception is a thief who
    /// uses the token within half a minute after the owner.
    @Test(arguments: [true, false])
    func `a thief and the owner cannot both continue to refresh`(isThiefFirst: Bool) {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        var held = [0, 0]
        let order = isThiefFirst ? [1, 0] : [0, 1]
        var ended = false
        for round in 1...3 {
            for (position, who) in order.enumerated() where !ended {
                switch tokens.present(held[who], at: (round * 10 + position) * Self.minute) {
                case .exchanged(let number), .repeated(let number): held[who] = number
                case .reused: ended = true
                }
            }
        }
        #expect(ended)
    }

    @Test func `refresh tokens are the same after they were stored as text`() throws {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        for number in 0..<10 { _ = tokens.present(number, at: 1_763_900_000_000 + number) }
        #expect(try #require(RefreshTokens(tokens.text)) == tokens)
        #expect(RefreshTokens("0") == RefreshTokens(newest: 0, exchanges: []))
        for text in ["", "x", "1 2>3", "1 2>x@4"] { #expect(RefreshTokens(text) == nil, "\(text)") }
    }

    @Test func `the history of a page that refreshes without end has at most 100 exchanges`() {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        for number in 0..<1000 { #expect(tokens.present(number, at: number) == .exchanged(number + 1)) }
        #expect(tokens.exchanges.count == 100)
    }
}
