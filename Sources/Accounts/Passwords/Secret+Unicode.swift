internal import Foundation

/// Operations on secret text. They process one character at a time, and write only to memory that is wiped. The
/// exceptions are ``normalised()`` and ``init(normalising:)``.
extension Secret {
    /// The length in Unicode scalars. The bytes must be valid UTF-8.
    var scalarCount: Int {
        withBytes { bytes in bytes.count { $0 & 0b1100_0000 != 0b1000_0000 } }
    }

    var isASCII: Bool {
        withBytes { bytes in bytes.allSatisfy { $0 < 0x80 } }
    }

    /// The text for comparisons regardless of case. Each character is converted to upper case and then to lower case,
    /// so that ß equals SS and ς equals σ.
    borrowing func caseFolded() -> Secret {
        Secret(capacity: 3 * count) { buffer in
            var text = UTF8Writer(buffer)
            _ = withBytes { bytes in
                bytes.visitScalars { scalar in
                    if scalar.isASCII {
                        text.append(("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar)
                        return
                    }
                    for upper in scalar.properties.uppercaseMapping.unicodeScalars {
                        upper.properties.lowercaseMapping.unicodeScalars.forEach { text.append($0) }
                    }
                }
            }
            return text.count
        }
    }

    /// The text in Unicode Normalization Form C. The bytes must be valid UTF-8.
    ///
    /// This function copies the text to memory outside a ``Secret``, because the standard library can only normalise a
    /// `String`. So do not call it for ASCII text, which is always in this form. The storage of the string is
    /// overwritten afterwards. Two things cannot be overwritten: the few characters that the normaliser holds at a
    /// time, and a string of up to 15 bytes, which is on the stack.
    borrowing func normalised() -> Secret {
        var text = withBytes { String(decoding: $0, as: UTF8.self) }
        defer {
            text.withUTF8 { explicit_bzero(UnsafeMutableRawPointer(mutating: $0.baseAddress!), $0.count) }
        }
        return Secret(normalising: text)
    }

    /// Makes a secret of the text in Normalization Form C, which is at most three times as long in bytes (Unicode
    /// Standard Annex 15).
    ///
    /// Uses `_withNFCCodeUnits`, which `String` itself uses to compare and hash, because Foundation's
    /// `precomposedStringWithCanonicalMapping` leaves copies in buffers that are not wiped.
    init(normalising text: String) {
        self.init(capacity: 3 * text.utf8.count) { buffer in
            var count = 0
            text._withNFCCodeUnits { byte in
                buffer[count] = byte
                count += 1
            }
            return count
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Visits each Unicode scalar. Stops and returns false at the first byte that is not valid UTF-8.
    func visitScalars<E: Error>(_ visit: (Unicode.Scalar) throws(E) -> Void) throws(E) -> Bool {
        var bytes = makeIterator()
        var codec = UTF8()
        while true {
            switch codec.decode(&bytes) {
            case .scalarValue(let scalar): try visit(scalar)
            case .emptyInput: return true
            case .error: return false
            }
        }
    }
}

/// Writes Unicode scalars as UTF-8 to a buffer, one after another.
struct UTF8Writer {
    private let buffer: UnsafeMutableRawBufferPointer
    /// The number of bytes written so far.
    private(set) var count = 0

    init(_ buffer: UnsafeMutableRawBufferPointer) {
        self.buffer = buffer
    }

    mutating func append(_ scalar: Unicode.Scalar) {
        for byte in scalar.utf8 {
            buffer[count] = byte
            count += 1
        }
    }
}
