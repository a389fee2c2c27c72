import Foundation

/// An opaque colour in sRGB.
struct Colour: Hashable, Sendable, CustomStringConvertible {
    private let red, green, blue: UInt8

    /// - Parameter text: `#rgb` or `#rrggbb`, in hexadecimal digits.
    init?(_ text: String) {
        let digits = text.dropFirst()
        guard text.hasPrefix("#"), digits.allSatisfy(\.isHexDigit) else { return nil }
        let all = digits.count == 3 ? digits.map { "\($0)\($0)" }.joined() : String(digits)
        guard all.utf8.count == 6, let number = UInt32(all, radix: 16) else { return nil }
        red = UInt8(number >> 16)
        green = UInt8(number >> 8 & 0xFF)
        blue = UInt8(number & 0xFF)
    }

    /// The colour as `#rrggbb`.
    var description: String {
        "#"
            + [red, green, blue].map { part in
                let digits = String(part, radix: 16)
                return digits.count == 1 ? "0\(digits)" : digits
            }.joined()
    }

    /// The contrast ratio (WCAG 2.2, "contrast ratio"), from 1 to 21.
    func contrast(with other: Colour) -> Double {
        let (lighter, darker) = (max(luminance, other.luminance), min(luminance, other.luminance))
        return (lighter + 0.05) / (darker + 0.05)
    }

    /// The relative luminance (WCAG 2.2, "relative luminance").
    private var luminance: Double {
        func linear(_ part: UInt8) -> Double {
            let value = Double(part) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }
}
