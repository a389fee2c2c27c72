extension Unicode.Scalar {
    /// False for controls, noncharacters, separators of lines and paragraphs, and characters that begin or end a run of
    /// text in another writing direction. True for direction marks that stand alone, such as U+200E (LEFT-TO-RIGHT
    /// MARK).
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

    /// Like ``isAllowedInLine``, but also true for line feeds and tabs.
    package var isAllowedInLines: Bool { isAllowedInLine || value == 0x0A || value == 0x09 }

    /// False for white space, controls, format characters, and characters that fonts draw as nothing. A text may
    /// contain some of these scalars, such as those that join emoji or letters, but it needs at least one visible
    /// scalar.
    ///
    /// True for unassigned code points that are not default-ignorable, because a newer version of Unicode may assign
    /// them to letters.
    package var isVisible: Bool {
        if isASCII { return (0x21...0x7E).contains(value) }
        switch value {
        // These are blank, although no Unicode property says so: BRAILLE PATTERN BLANK, OBJECT REPLACEMENT CHARACTER,
        // EGYPTIAN HIEROGLYPH FULL BLANK and HALF BLANK, KHITAN SMALL SCRIPT FILLER, and MUSICAL SYMBOL NULL NOTEHEAD.
        case 0x2800, 0xFFFC, 0x13441, 0x13442, 0x16FE4, 0x1D159: return false
        default: break
        }
        // The Hangul fillers are default-ignorable, too, although they are letters.
        if properties.isDefaultIgnorableCodePoint || properties.isWhitespace { return false }
        // Some format characters are drawn, such as U+0600 ARABIC NUMBER SIGN, but only together with the characters
        // after them.
        return properties.generalCategory != .format && properties.generalCategory != .control
    }
}
