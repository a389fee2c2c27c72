import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The colours of a brand")
struct PaletteTests {
    @Test(arguments: [
        ("#000", "#fff", 21.0), ("#ffffff", "#FFF", 1.0), ("#767676", "#ffffff", 4.54), ("#777777", "#ffffff", 4.47),
        ("#f00", "#fff", 3.99), ("#00f", "#fff", 8.59), ("#949494", "#fff", 3.03), ("#0a0a0a", "#fff", 19.79),
    ])
    func `the contrast of two colours follows the formula of WCAG`(one: String, other: String, ratio: Double) throws {
        let (one, other) = (try #require(Colour(one)), try #require(Colour(other)))
        #expect(one.contrast(with: other).roundedDownToHundredths == ratio)
        #expect(one.contrast(with: other) == other.contrast(with: one))
    }

    @Test func `a colour has three or six hexadecimal digits`() {
        #expect(Colour("#0aF")?.description == "#00aaff" && Colour("#0A0b0c")?.description == "#0a0b0c")
        for text in ["", "#", "fff", "#ff", "#ffff", "#fffff", "#ffffffff", "#+fffff", "#ggg", "#１１１", "red"] {
            #expect(Colour(text) == nil, "\(text)")
        }
    }

    @Test func `the built-in colours are those of properties.css`() throws {
        let file = Repository.root.appending(path: "Sources/accounts-api/Pages/properties.css")
        let modes = try String(contentsOf: file, encoding: .utf8)
            .components(separatedBy: "prefers-color-scheme: dark")
        for (mode, text) in zip(ColourMode.allCases, modes) {
            for name in ColourName.allCases {
                let declaration = try #require(text.firstRange(of: "\(name.property): "), "\(mode) \(name)")
                let value = text[declaration.upperBound...].prefix { $0 != ";" }
                #expect(Colour(String(value)) == Palette(mode: mode)[name], "\(mode) \(name)")
            }
        }
    }

    @Test(arguments: ColourMode.allCases)
    func `the built-in colours have enough contrast`(mode: ColourMode) {
        for pair in ContrastPair.all {
            let ratio = Palette(mode: mode).contrast(of: pair)
            #expect(ratio >= pair.minimum, "\(pair.foreground) on \(pair.background)")
        }
    }
}
