internal import Crypto
internal import Foundation

/// The text of a hash, read piece by piece.
struct HashText {
    private var pieces: ArraySlice<Substring>

    init(_ text: some StringProtocol, separator: Character = "$") {
        pieces = text.split(separator: separator, omittingEmptySubsequences: false).map { Substring($0) }[...]
    }

    mutating func next() throws(ImportedHashError) -> Substring {
        guard let piece = pieces.popFirst() else { throw .malformed }
        return piece
    }

    /// Reads a number below 2³¹ without a sign or leading zeros.
    mutating func number(after prefix: String = "") throws(ImportedHashError) -> Int {
        let piece = try next()
        guard piece.hasPrefix(prefix), let number = Int32(piece.dropFirst(prefix.count)), number >= 0,
            "\(prefix)\(number)" == piece
        else { throw .malformed }
        return Int(number)
    }

    /// Throws if there are more pieces.
    func end() throws(ImportedHashError) {
        if !pieces.isEmpty { throw .malformed }
    }
}

extension [UInt8] {
    /// Decodes base64 with or without padding.
    ///
    /// - Parameter plus: the character that is used in place of `+`.
    static func base64(_ text: Substring, plus: Character = "+") throws(ImportedHashError) -> [UInt8] {
        let digits = String(text.map { $0 == plus ? "+" : $0 == "+" ? plus : $0 }).prefix { $0 != "=" }
        let padding = String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4)
        guard ["", padding[...]].contains(text.dropFirst(digits.count)),
            let data = Data(base64Encoded: digits + padding),
            !data.isEmpty
        else { throw .malformed }
        return Array(data)
    }

    static func hexadecimal(_ text: Substring) throws(ImportedHashError) -> [UInt8] {
        guard text.utf8.count.isMultiple(of: 2), text.utf8.allSatisfy({ $0.isASCIIAlphanumeric }) else {
            throw .malformed
        }
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map { UInt8($0) } }
        guard !digits.isEmpty, digits.count == text.utf8.count else { throw .malformed }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension Secret {
    /// Copies the bytes of a key. swift-crypto wipes the memory of the key itself when the last reference to the key is
    /// gone.
    init(_ key: SymmetricKey) {
        self.init(capacity: key.bitCount / 8) { buffer in
            key.withUnsafeBytes { buffer.copyMemory(from: $0) }
            return buffer.count
        }
    }
}
