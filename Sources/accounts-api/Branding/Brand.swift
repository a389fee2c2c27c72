import Accounts

/// The content of a brand file: the name, pictures, colours, font and links of the pages. An operator can change these
/// without copying templates.
struct Brand: Sendable {
    /// The name of the service; nil if other settings give it.
    let name: String?
    /// The logo; nil if the pages show the name instead.
    let logo: Logo?
    let favicon: BrandFile?
    let light: Palette
    let dark: Palette
    /// The radius of the corners of fields, buttons and messages, as a CSS length in px or rem; nil for that of the
    /// style sheet.
    let radius: String?
    let font: Font?
    /// The links at the foot of every page, in the order of the cases of ``Link``.
    let links: [(link: Link, url: String)]
    /// The colour that browsers give their own controls around the page, for each mode for which the file has one.
    let themeColours: [ColourMode: Colour]

    var palettes: [Palette] { [light, dark] }

    func url(of link: Link) -> String? { links.first { $0.link == link }?.url }

    struct Logo: Sendable {
        let light: BrandFile
        /// The picture on dark pages; nil if they show the same picture as light pages.
        let dark: BrandFile?
        /// The text alternative of the picture; nil for the name of the service.
        let alternative: String?
    }

    struct Font: Sendable {
        let family: String
        let faces: [Face]

        struct Face: Sendable {
            let file: BrandFile
            /// The value of `font-weight` in CSS: a number from 1 to 1000, or two numbers for a variable font.
            let weight: String
            let style: String
        }
    }

    /// A link at the foot of every page.
    enum Link: String, CaseIterable, Sendable {
        case help, terms, privacy

        var word: Word {
            switch self {
            case .help: .helpLink
            case .terms: .termsLink
            case .privacy: .privacyLink
            }
        }
    }
}

/// All mistakes in a brand file, at least one.
struct BrandFileError: Error, CustomStringConvertible {
    let mistakes: [YAMLFileError]

    var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
