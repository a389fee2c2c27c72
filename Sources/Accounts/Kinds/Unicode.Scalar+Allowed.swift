extension Unicode.Scalar {
    /// False for controls, noncharacters, line separators, and characters that change the writing direction.
    package var isAllowedInLine: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F: false
        case 0x2028, 0x2029: false
        // Bidirectional embeddings, overrides and isolates.
        case 0x202A...0x202E, 0x2066...0x2069: false
        case 0xFDD0...0xFDEF: false
        default: value & 0xFFFE != 0xFFFE
        }
    }

    /// Also allows line feeds and tabs.
    package var isAllowedInLines: Bool { isAllowedInLine || value == 0x0A || value == 0x09 }
}
