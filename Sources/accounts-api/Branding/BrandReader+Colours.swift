import Accounts

extension BrandReader {
    /// Reads the colours of light and dark pages. If the file has no other mistake in the colours of a mode, collects a
    /// mistake for each of ``ContrastPair/all`` that has too little contrast in this mode.
    mutating func palettes(in entry: inout YAMLEntry) -> (light: Palette, dark: Palette) {
        guard var colours = mapping("colors", in: &entry) else { return (Palette(mode: .light), Palette(mode: .dark)) }
        let light = palette(.light, in: &colours)
        let dark = palette(.dark, in: &colours)
        colours.unknownKeys.forEach { collect($0) }
        return (light, dark)
    }

    mutating func themeColours(in entry: inout YAMLEntry) -> [ColourMode: Colour] {
        guard var colours = mapping("theme_color", in: &entry) else { return [:] }
        var named: [ColourMode: Colour] = [:]
        for mode in ColourMode.allCases { named[mode] = colour(mode.rawValue, in: &colours) }
        colours.unknownKeys.forEach { collect($0) }
        return named
    }

    private mutating func palette(_ mode: ColourMode, in colours: inout YAMLEntry) -> Palette {
        var palette = Palette(mode: mode)
        guard var entry = mapping(mode.rawValue, in: &colours) else { return palette }
        let earlierMistakes = mistakes.count
        for name in ColourName.allCases { palette.overrides[name] = colour(name.rawValue, in: &entry) }
        entry.unknownKeys.forEach { collect($0) }
        // After a mistake, the palette does not have the intended colours, so their contrast is not checked.
        if mistakes.count == earlierMistakes { checkContrast(of: palette, at: entry) }
        return palette
    }

    private mutating func checkContrast(of palette: Palette, at entry: YAMLEntry) {
        for pair in ContrastPair.all {
            let ratio = palette.contrast(of: pair)
            if ratio >= pair.minimum { continue }
            func title(_ name: ColourName) -> String {
                "\(palette.overrides[name] == nil ? "the built-in " : "")\"\(name.rawValue)\""
            }
            let key = palette.overrides[pair.foreground] == nil ? pair.background : pair.foreground
            let reason = """
                \(title(pair.foreground)) on \(title(pair.background)) has a contrast of \
                \(ratio.roundedDownToHundredths) in \(palette.mode.rawValue) mode; it needs at least \(pair.minimum)
                """
            collect(entry.error(reason, at: key.rawValue))
        }
    }

    /// Reads a colour. Returns nil if the key is missing, or if its value is invalid; that mistake is collected.
    private mutating func colour(_ key: String, in entry: inout YAMLEntry) -> Colour? {
        let text: String?
        do throws(YAMLFileError) { text = try entry.optionalText(key) } catch {
            // Without quotation marks, # begins a comment in YAML.
            collect(entry.error("\"\(key)\" must be a colour in quotation marks, such as \"#1d4ed8\"", at: key))
            return nil
        }
        guard let text else { return nil }
        if let colour = Colour(text) { return colour }
        collect(entry.error("invalid colour \"\(text)\": use \"#rgb\" or \"#rrggbb\"", at: key))
        return nil
    }
}
