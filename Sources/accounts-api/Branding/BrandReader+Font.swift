import Accounts

extension BrandReader {
    private static let maximumFontBytes = 200 << 10
    private static let maximumFaces = 8

    mutating func font(in entry: inout YAMLEntry) -> Brand.Font? {
        guard var fonts = mapping("fonts", in: &entry) else { return nil }
        let earlierMistakes = mistakes.count
        let family = family(in: &fonts)
        let files = attempt { () throws(YAMLFileError) in try fonts.entries("files") } ?? []
        if files.count > Self.maximumFaces {
            collect(fonts.error("\"files\" must have at most \(Self.maximumFaces) entries", at: "files"))
        }
        var faces: [Brand.Font.Face] = []
        for var file in files.prefix(Self.maximumFaces) {
            if let face = face(&file) { faces.append(face) }
        }
        fonts.unknownKeys.forEach { collect($0) }
        guard mistakes.count == earlierMistakes, let family else { return nil }
        return Brand.Font(family: family, faces: faces)
    }

    private mutating func family(in fonts: inout YAMLEntry) -> String? {
        guard let family = attempt({ () throws(YAMLFileError) in try fonts.text("family") }) else { return nil }
        // The style sheet puts the name in quotation marks. So only characters that cannot end that string are
        // allowed.
        let isAllowed = family.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || [" ", "-", "_"].contains(scalar)
        }
        if isAllowed, family.count <= 100 { return family }
        let form = "use at most 100 characters: letters, digits, spaces, hyphens and underscores"
        collect(fonts.error("invalid family \"\(family)\": \(form)", at: "family"))
        return nil
    }

    private mutating func face(_ entry: inout YAMLEntry) -> Brand.Font.Face? {
        let earlierMistakes = mistakes.count
        let file = brandFile("file", in: &entry, among: [.woff2], upTo: Self.maximumFontBytes)
        if file == nil, mistakes.count == earlierMistakes { collect(entry.error("\"file\" is missing")) }
        let weight = weight(in: &entry)
        let style = attempt { () throws(YAMLFileError) in try entry.word("style", among: ["normal", "italic"]) } ?? nil
        entry.unknownKeys.forEach { collect($0) }
        return file.map { Brand.Font.Face(file: $0, weight: weight ?? "400", style: style ?? "normal") }
    }

    private mutating func weight(in entry: inout YAMLEntry) -> String? {
        guard let text = text("weight", in: &entry) else { return nil }
        let numbers = text.split(separator: " ", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        if (1...2).contains(numbers.count), numbers == numbers.sorted(), numbers.allSatisfy((1...1000).contains) {
            return numbers.map(String.init).joined(separator: " ")
        }
        let form = "use a number from 1 to 1000, or two ascending ones for a variable font, such as 100 900"
        collect(entry.error("invalid weight \"\(text)\": \(form)", at: "weight"))
        return nil
    }
}
