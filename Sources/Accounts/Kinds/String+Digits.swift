extension String {
    /// The text if it consists of so many digits; nil otherwise. Spaces are left out, and full-width digits, as some
    /// keyboards of East Asia type them, become ASCII (as in Unicode Normalization Form KC).
    package func digits(_ count: Int) -> String? {
        var digits: [UInt8] = []
        for scalar in unicodeScalars {
            switch scalar {
            case "0"..."9": digits.append(UInt8(scalar.value))
            case "０"..."９": digits.append(UInt8(scalar.value - 0xFF10) + UInt8(ascii: "0"))
            // A space, and the ideographic one.
            case " ", "\u{3000}": continue
            default: return nil
            }
        }
        return digits.count == count ? String(decoding: digits, as: UTF8.self) : nil
    }
}
