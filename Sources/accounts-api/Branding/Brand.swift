import Accounts

/// What an operator changes on the pages without copying templates: the content of a brand file.
struct Brand: Sendable {
    /// Nil if other settings name the service.
    let name: String?
    /// Nil if the pages show the name instead.
    let logo: Logo?
    let favicon: BrandFile?
    let light: Palette
    let dark: Palette
    /// The corners of controls, as a CSS length.
    let radius: String?
    let font: Font?
    /// In the order of ``Link``.
    let links: [(link: Link, url: String)]
    /// The colour of the browser around the page.
    let themeColours: [ColourMode: Colour]

    var palettes: [Palette] { [light, dark] }

    struct Logo: Sendable {
        let light: BrandFile
        /// Nil if the dark mode shows the same picture.
        let dark: BrandFile?
        /// Nil for the name of the service.
        let alternative: String?
    }

    struct Font: Sendable {
        let family: String
        let faces: [Face]

        struct Face: Sendable {
            let file: BrandFile
            /// As in CSS: a number, or two for a variable font.
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
    let mistakes: [FlowFileError]

    var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
