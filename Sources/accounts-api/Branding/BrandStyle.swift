/// The part of the style sheet that follows from a brand.
struct BrandStyle {
    let brand: Brand
    /// The paths of the files of the font, in the order of its faces.
    let fontPaths: [String]

    var text: String {
        var lines = faces + properties
        if brand.logo != nil {
            lines.append(
                ".logo { display: block; block-size: 2.5rem; max-inline-size: 100%; object-fit: contain; "
                    + "object-position: 0 50%; }"
            )
        }
        if !brand.links.isEmpty {
            lines.append(".links { justify-content: center; margin-block-start: var(--space); }")
        }
        return lines.map { "\($0)\n" }.joined()
    }

    /// The rules that load the fonts. A font that arrives late is used only from the next page on, so that no text
    /// moves.
    private var faces: [String] {
        guard let font = brand.font else { return [] }
        return zip(font.faces, fontPaths).map { face, path in
            """
            @font-face { font-family: "\(font.family)"; src: url("\(path)") format("woff2"); \
            font-weight: \(face.weight); font-style: \(face.style); font-display: optional; }
            """
        }
    }

    private var properties: [String] {
        // The rule for the light mode applies in both modes and follows the built-in style sheet, so in dark mode it
        // replaces the built-in dark colours. The rule for the dark mode must therefore set the same colours again.
        let names = ColourName.allCases.filter { brand.light.overrides[$0] != nil || brand.dark.overrides[$0] != nil }
        var light = names.map { declaration($0.property, "\(brand.light[$0])") }
        let dark = names.map { declaration($0.property, "\(brand.dark[$0])") }
        if let radius = brand.radius { light.append(declaration("--radius", radius)) }
        if let font = brand.font {
            // The fonts of the style sheet draw the characters that this font lacks, such as Korean ones.
            let others = #"system-ui, "Noto Sans KR", "Apple SD Gothic Neo", sans-serif"#
            light.append(declaration("--font", "\"\(font.family)\", \(others)"))
        }
        var rules: [String] = []
        if !light.isEmpty { rules.append(":root { \(light.joined(separator: " ")) }") }
        if !dark.isEmpty {
            rules.append("@media (prefers-color-scheme: dark) { :root { \(dark.joined(separator: " ")) } }")
        }
        return rules
    }

    private func declaration(_ property: String, _ value: String) -> String { "\(property): \(value);" }
}
