import Testing

@testable import Accounts

@Suite("Refresh tokens of one authorization")
struct RefreshTokensTests {
    private static let minute = 60_000

    @Test func `each token gets one successor`() {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        for number in 0..<5 { #expect(tokens.present(number, at: number * Self.minute) == .exchanged(number + 1)) }
        #expect(tokens.newest == 5 && tokens.exchanges.count == 1)
    }

    @Test func `tabs that refresh at once get the same successor, also those that lag behind`() {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        #expect(tokens.present(0, at: 0) == .exchanged(1))
        #expect(tokens.present(1, at: 10) == .exchanged(2))
        #expect(tokens.present(0, at: 20) == .repeated(1))
        #expect(tokens.present(1, at: 30_010) == .repeated(2))
        #expect(tokens.newest == 2)
    }

    /// Every tab refreshes in every rotation, within half a minute, with the token that all of them store in common.
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

    @Test func `whose answer was lost gets another successor, and the lost one is void`() {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        #expect(tokens.present(0, at: 0) == .exchanged(1))
        #expect(tokens.present(0, at: Self.minute) == .exchanged(2))
        #expect(tokens.present(1, at: Self.minute) == .reused)
        #expect(tokens.present(2, at: Self.minute) == .exchanged(3))
    }

    @Test func `a token that was replaced long ago is a theft, and so is one that never was`() {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        for number in 0..<3 { _ = tokens.present(number, at: number * Self.minute) }
        for number in [0, 1, 4, 1000] {
            var copy = tokens
            #expect(copy.present(number, at: 3 * Self.minute) == .reused, "token \(number)")
            #expect(copy == tokens)
        }
    }

    /// Whoever steals a token and uses it later than half a minute after the owner, or before the owner, is found out as soon
    /// as both have refreshed once more.
    @Test(arguments: [true, false])
    func `a thief and the owner cannot both go on`(isThiefFirst: Bool) {
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

    @Test func `they survive the database`() throws {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        for number in 0..<10 { _ = tokens.present(number, at: 1_763_900_000_000 + number) }
        #expect(try #require(RefreshTokens(tokens.text)) == tokens)
        #expect(RefreshTokens("0") == RefreshTokens(newest: 0, exchanges: []))
        for text in ["", "x", "1 2>3", "1 2>x@4"] { #expect(RefreshTokens(text) == nil, "\(text)") }
    }

    @Test func `a page that refreshes without end keeps a bounded history`() {
        var tokens = RefreshTokens(newest: 0, exchanges: [])
        for number in 0..<1000 { #expect(tokens.present(number, at: number) == .exchanged(number + 1)) }
        #expect(tokens.exchanges.count == 100)
    }
}
