import Accounts

/// The files of a brand with their URLs, and the values that the brand gives to the templates and the style sheet.
struct BrandAssets: Sendable {
    private let brand: Brand
    private let logo: Asset?
    private let darkLogo: Asset?
    private let favicon: Asset?
    private let fonts: [Asset]

    init(_ brand: Brand) {
        self.brand = brand
        logo = brand.logo.map { Asset("logo", $0.light) }
        darkLogo = brand.logo?.dark.map { Asset("logo-dark", $0) }
        favicon = brand.favicon.map { Asset("favicon", $0) }
        fonts = (brand.font?.faces ?? []).enumerated().map { Asset("font-\($0.offset + 1)", $0.element.file) }
    }

    var files: [Asset] { [logo, darkLogo, favicon].compactMap { $0 } + fonts }

    /// The directive that the fonts add to the Content-Security-Policy of pages; empty without fonts. The pictures add
    /// none, because the policy always permits images of the service.
    var contentPolicy: String { fonts.isEmpty ? "" : "font-src 'self'; " }

    /// The CSS that is added at the end of the style sheet of the pages.
    var style: String { BrandStyle(brand: brand, fontPaths: fonts.map(\.path)).text }

    var helpURL: String? { brand.url(of: .help) }

    var hasLinks: Bool { !brand.links.isEmpty }

    /// The member `brand` of the values that every page template gets.
    func members(serviceName: String, in language: Language) -> JSON {
        let links = brand.links.map { link, url -> JSON in
            ["href": .string(url), "text": .string(language.messages.text(link.word))]
        }
        let themeColours = ColourMode.allCases.compactMap { mode in
            brand.themeColours[mode].map { colour -> JSON in
                ["mode": .string(mode.rawValue), "color": .string("\(colour)")]
            }
        }
        return [
            "logo": path(logo), "dark_logo": path(darkLogo),
            "logo_text": .string(brand.logo?.alternative ?? serviceName), "favicon": path(favicon),
            "font": path(fonts.first), "theme_colors": .array(themeColours), "has_links": .bool(hasLinks),
            "links": .array(links),
        ]
    }

    private func path(_ asset: Asset?) -> JSON { asset.map { .string($0.path) } ?? .null }
}

extension Asset {
    /// - Parameter name: the last part of the path of the URL, without its extension.
    fileprivate init(_ name: String, _ file: BrandFile) {
        self.init(
            "\(name).\(file.type.rawValue)",
            file.bytes,
            file.type.contentType,
            // An SVG file can contain a script. Without this policy, the script would run if somebody opened the file
            // itself.
            contentPolicy: file.type == .svg ? "default-src 'none'; style-src 'unsafe-inline'; sandbox" : nil
        )
    }
}
