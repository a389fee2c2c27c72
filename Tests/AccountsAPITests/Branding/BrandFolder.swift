import Foundation

@testable import accounts_api

/// A temporary folder with a file of each type that a brand file can name. It is deleted together with this object.
final class BrandFolder: Sendable {
    static let svg = Array(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 4 1\"><path d=\"M0 0h4\"/></svg>".utf8
    )
    static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0xFF, 0xFE]
    static let ico: [UInt8] = [0, 0, 1, 0, 1, 0]
    static let woff2 = Array("wOF2 and more".utf8)

    /// A brand file with every key.
    static let full = """
        name: Example Tea
        logo: {light: logo.svg, dark: logo.png, alt: Tea}
        favicon: favicon.ico
        colors:
          light: {accent: "#0f766e"}
          dark: {accent: "#5ed", on_accent: "#042f2e"}
        radius: 0.5rem
        fonts:
          family: Example Sans
          files:
            - {file: font.woff2}
            - {file: font.woff2, weight: 100 900, style: italic}
        links: {help: 'https://a.example/', terms: 'https://a.example/t', privacy: 'mailto:p@a.example'}
        theme_color: {light: "#fff", dark: "#0d0f12"}
        """

    private let folder = FileManager.default.temporaryDirectory.appending(path: "brand-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let files: [String: [UInt8]] = [
            "logo.svg": Self.svg, "logo.png": Self.png, "favicon.ico": Self.ico, "font.woff2": Self.woff2, "empty": [],
            "big.png": Self.png + [UInt8](repeating: 0, count: (100 << 10) + 1 - Self.png.count),
        ]
        for (name, bytes) in files { try Data(bytes).write(to: folder.appending(path: name)) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// Reads a brand file in this folder.
    func brand(_ yaml: String = BrandFolder.full) throws -> Brand { try Brand(yaml, file: path("brand.yaml")) }
}
