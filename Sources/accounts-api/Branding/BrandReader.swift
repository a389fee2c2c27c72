import Accounts
import Foundation

extension Brand {
    /// Reads a brand file and the files that it names. Throws all mistakes together.
    init(contentsOf path: String) throws(BrandFileError) {
        let yaml: String
        do throws(YAMLFileError) {
            yaml = try YAMLText.read(path)
        } catch {
            throw BrandFileError(mistakes: [error])
        }
        try self.init(yaml, file: path)
    }

    /// - Parameter file: the path of the brand file, for errors. Relative paths in the file start at its folder.
    init(_ yaml: String, file: String) throws(BrandFileError) {
        var reader = BrandReader(file: file)
        guard let brand = reader.read(yaml) else {
            let mistakes = reader.mistakes.map { $0.within(yaml) }
            throw BrandFileError(mistakes: mistakes.sorted { ($0.line ?? 0) < ($1.line ?? 0) })
        }
        self = brand
    }
}

/// Reads a brand file, and collects all its mistakes.
struct BrandReader {
    let file: String
    private(set) var mistakes: [YAMLFileError] = []

    private static let maximumPictureBytes = 100 << 10

    init(file: String) { self.file = file }

    /// Returns nil if there are mistakes; then ``mistakes`` has all of them.
    mutating func read(_ yaml: String) -> Brand? {
        let path = file
        guard var entry = attempt({ () throws(YAMLFileError) in try YAMLEntry(yaml: yaml, file: path) }) else {
            return nil
        }
        let name = text("name", in: &entry)
        let logo = logo(in: &entry)
        let favicon = picture("favicon", in: &entry, among: [.svg, .png, .ico])
        let (light, dark) = palettes(in: &entry)
        let radius = radius(in: &entry)
        let font = font(in: &entry)
        let links = links(in: &entry)
        let themeColours = themeColours(in: &entry)
        mistakes += entry.unknownKeys
        guard mistakes.isEmpty else { return nil }
        return Brand(
            name: name,
            logo: logo,
            favicon: favicon,
            light: light,
            dark: dark,
            radius: radius,
            font: font,
            links: links,
            themeColours: themeColours
        )
    }

    private mutating func logo(in entry: inout YAMLEntry) -> Brand.Logo? {
        guard var logo = mapping("logo", in: &entry) else { return nil }
        let earlierMistakes = mistakes.count
        let light = picture("light", in: &logo, among: [.svg, .png])
        if light == nil, mistakes.count == earlierMistakes { collect(logo.error("\"light\" is missing")) }
        let dark = picture("dark", in: &logo, among: [.svg, .png])
        let alternative = text("alt", in: &logo)
        mistakes += logo.unknownKeys
        return light.map { Brand.Logo(light: $0, dark: dark, alternative: alternative) }
    }

    private mutating func radius(in entry: inout YAMLEntry) -> String? {
        guard let text = text("radius", in: &entry) else { return nil }
        if let match = text.wholeMatch(of: /([0-9]{1,2}(?:\.[0-9]{1,4})?)(px|rem)/), let number = Double(match.1),
            number * (match.2 == "rem" ? 16 : 1) <= 32
        {
            return text
        }
        let form = "use a length from 0px to 32px, or from 0rem to 2rem"
        collect(entry.error("invalid radius \"\(text)\": \(form)", at: "radius"))
        return nil
    }

    private mutating func links(in entry: inout YAMLEntry) -> [(link: Brand.Link, url: String)] {
        guard var urls = mapping("links", in: &entry) else { return [] }
        var links: [(link: Brand.Link, url: String)] = []
        for link in Brand.Link.allCases {
            guard let url = text(link.rawValue, in: &urls) else { continue }
            if Self.isLink(url) {
                links.append((link, url))
            } else {
                let form = "use an https URL without a user name, or a mailto URL"
                collect(urls.error("invalid URL \"\(url)\": \(form)", at: link.rawValue))
            }
        }
        mistakes += urls.unknownKeys
        return links
    }

    private static func isLink(_ text: String) -> Bool {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let url = URLComponents(string: text) else {
            return false
        }
        return switch url.scheme {
        case "https": url.host?.isEmpty == false && url.user == nil
        case "mailto": Mail.isAddress(url.path)
        default: false
        }
    }

    // MARK: Collecting

    /// Returns the value of `body`. If `body` throws, collects the mistake and returns nil.
    mutating func attempt<Value>(_ body: () throws(YAMLFileError) -> Value) -> Value? {
        do throws(YAMLFileError) {
            return try body()
        } catch {
            mistakes.append(error)
            return nil
        }
    }

    mutating func collect(_ mistake: YAMLFileError) { mistakes.append(mistake) }

    /// Reads a text. Returns nil if the key is missing. Collects an invalid value as a mistake, and returns nil.
    mutating func text(_ key: String, in entry: inout YAMLEntry) -> String? {
        attempt { () throws(YAMLFileError) in try entry.optionalText(key) } ?? nil
    }

    /// Reads a mapping. Returns nil if the key is missing. Collects an invalid value as a mistake, and returns nil.
    mutating func mapping(_ key: String, in entry: inout YAMLEntry) -> YAMLEntry? {
        attempt { () throws(YAMLFileError) in try entry.entry(key) } ?? nil
    }

    private mutating func picture(
        _ key: String,
        in entry: inout YAMLEntry,
        among types: [BrandFile.MediaType]
    ) -> BrandFile? {
        brandFile(key, in: &entry, among: types, upTo: Self.maximumPictureBytes)
    }

    /// Reads the file whose path is the value of the key. A relative path starts at the folder of the brand file.
    /// Returns nil if the key is missing. Collects an unusable file as a mistake, and returns nil.
    mutating func brandFile(
        _ key: String,
        in entry: inout YAMLEntry,
        among types: [BrandFile.MediaType],
        upTo maximum: Int
    ) -> BrandFile? {
        guard let path = text(key, in: &entry) else { return nil }
        do throws(BrandFile.Unusable) {
            return try BrandFile(contentsOf: resolved(path), among: types, upTo: maximum)
        } catch {
            collect(entry.error("cannot use \"\(path)\": \(error.reason)", at: key))
            return nil
        }
    }

    private func resolved(_ path: String) -> String {
        guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
        return "\(file[...slash])\(path)"
    }
}
