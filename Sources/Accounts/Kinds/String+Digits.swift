extension String {
    /// Returns the digits of the text in ASCII; nil if their number is not `count`, or if the text contains anything
    /// except digits and spaces. Accepts full-width digits, which some East Asian keyboards type.
    package func digits(_ count: Int) -> String? {
        var digits: [UInt8] = []
        for scalar in unicodeScalars {
            switch scalar {
            case "0"..."9": digits.append(UInt8(scalar.value))
            case "０"..."９": digits.append(UInt8(scalar.value - 0xFF10) + UInt8(ascii: "0"))
            // U+3000 is the ideographic space.
            case " ", "\u{3000}": continue
            default: return nil
            }
        }
        return digits.count == count ? String(decoding: digits, as: UTF8.self) : nil
    }
}
