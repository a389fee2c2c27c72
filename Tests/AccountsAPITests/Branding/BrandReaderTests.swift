import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("A brand file")
struct BrandReaderTests {
    private let folder: BrandFolder

    init() throws { folder = try BrandFolder() }

    private func mistakes(in yaml: String) -> [String] {
        do throws(BrandFileError) {
            _ = try Brand(yaml, file: folder.path("brand.yaml"))
            return []
        } catch {
            return error.mistakes.map { "\($0.line ?? 0): \($0.reason)" }
        }
    }

    @Test func `every key is read`() throws {
        let brand = try Brand(BrandFolder.full, file: folder.path("brand.yaml"))
        #expect(brand.name == "Example Tea" && brand.radius == "0.5rem")
        let logo = try #require(brand.logo)
        #expect(logo.light.type == .svg && logo.dark?.type == .png && logo.alternative == "Tea")
        #expect(brand.favicon?.type == .ico)
        #expect("\(brand.light[.accent])" == "#0f766e" && "\(brand.light[.muted])" == "#575b63")
        #expect("\(brand.dark[.accent])" == "#55eedd" && "\(brand.dark[.onAccent])" == "#042f2e")
        let font = try #require(brand.font)
        #expect(font.family == "Example Sans" && font.faces.map(\.weight) == ["400", "100 900"])
        #expect(font.faces.map(\.style) == ["normal", "italic"])
        #expect(brand.links.map(\.link) == [.help, .terms, .privacy])
        #expect(brand.links.map(\.url) == ["https://a.example/", "https://a.example/t", "mailto:p@a.example"])
        #expect(brand.themeColours.mapValues { "\($0)" } == [.light: "#ffffff", .dark: "#0d0f12"])
    }

    @Test func `a missing key leaves the built-in look`() throws {
        let brand = try Brand("name: Tea", file: "brand.yaml")
        #expect(brand.logo == nil && brand.favicon == nil && brand.font == nil && brand.radius == nil)
        #expect(brand.links.isEmpty && brand.themeColours.isEmpty)
        let palettesWithColours = brand.palettes.filter { !$0.overrides.isEmpty }
        #expect(palettesWithColours.isEmpty)
    }

    @Test func `all mistakes are reported at once, each with its line`() {
        let yaml = """
            title: Tea
            logo: {light: none.svg, black: logo.svg}
            favicon: font.woff2
            colors:
              light:
                accent: "#12345"
                grey: "#777777"
              dark:
                muted: "#777777"
            radius: 33px
            links:
              help: http://a.example/
            """
        #expect(
            mistakes(in: yaml) == [
                "1: unknown key \"title\"",
                "2: cannot use \"none.svg\": No such file or directory",
                "2: unknown key \"black\"",
                "3: cannot use \"font.woff2\": the file has none of these types: SVG, PNG, ICO",
                "6: invalid colour \"#12345\": use \"#rgb\" or \"#rrggbb\"",
                "7: unknown key \"grey\"",
                "9: \"muted\" on the built-in \"card\" has a contrast of 3.89 in dark mode; it needs at least 4.5",
                "10: invalid radius \"33px\": use a length from 0px to 32px, or from 0rem to 2rem",
                "12: invalid URL \"http://a.example/\": use an https URL without a user name, or a mailto URL",
            ]
        )
    }

    @Test(arguments: [
        ("logo: {dark: logo.svg}", "1: \"light\" is missing"),
        ("logo: {light: font.woff2}", "1: cannot use \"font.woff2\": the file has none of these types: SVG, PNG"),
        ("logo: {light: .}", "1: cannot use \".\": not a regular file"),
        ("favicon: big.png", "1: cannot use \"big.png\": 102401 bytes, more than 100 KiB"),
        ("favicon: empty", "1: cannot use \"empty\": the file cannot be read, or it is empty"),
        (
            "colors: {light: {accent: #fff\n}}",
            "1: \"accent\" must be a colour in quotation marks, such as \"#1d4ed8\""
        ),
        (
            "colors: {light: {card: '#777'}}",
            "1: \"text\" on \"card\" has a contrast of 3.93 in light mode; it needs at least 4.5"
        ),
        ("colors: {sepia: {}}", "1: unknown key \"sepia\""),
        ("theme_color: {light: white}", "1: invalid colour \"white\": use \"#rgb\" or \"#rrggbb\""),
        ("fonts: {family: A}", "1: \"files\" must be a list with at least one entry"),
        (
            "fonts: {family: 'A\"', files: [{file: font.woff2}]}",
            "1: invalid family \"A\"\": use at most 100 characters: letters, digits, spaces, hyphens and underscores"
        ),
        (
            "fonts: {family: A, files: [{file: font.woff2, weight: 900 100}]}",
            "1: invalid weight \"900 100\": use a number from 1 to 1000, or two ascending ones for a variable font, such as 100 900"
        ),
        ("fonts: {family: A, files: [{weight: 400}]}", "1: \"file\" is missing"),
        (
            "fonts: {family: A, files: [{file: logo.svg}]}",
            "1: cannot use \"logo.svg\": the file has none of these types: WOFF2"
        ),
    ])
    func `a mistake says what is valid`(yaml: String, mistake: String) {
        #expect(mistakes(in: yaml).first?.replacing("the built-in ", with: "") == mistake)
    }

    @Test(arguments: ["http://a.example", "https:///help", "https://kim@a.example", "javascript:alert(1)", "/help"])
    func `a link that is neither a valid https nor a mailto URL is refused`(url: String) {
        #expect(mistakes(in: "links: {terms: '\(url)'}").count == 1)
    }

    @Test(arguments: [
        ("0px", true), ("32px", true), ("2rem", true), ("1.25rem", true), ("2.1rem", false), ("8", false),
        ("-1px", false), ("8px;color:red", false), ("50%", false),
    ])
    func `a radius is a length of at most 32 pixels`(radius: String, isValid: Bool) {
        #expect(mistakes(in: "radius: '\(radius)'").isEmpty == isValid)
    }

    @Test(arguments: [
        (#"<svg xmlns="http://www.w3.org/2000/svg"/>"#, true),
        ("\u{FEFF}<?xml version=\"1.0\"?>\n<!-- a > b -->\n<svg xmlns='http://www.w3.org/2000/svg'></svg>", true),
        (
            """
            <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [
              <!ENTITY ns_svg "http://www.w3.org/2000/svg">
            ]>
            <svg xmlns="&ns_svg;"/>
            """, true
        ),
        ("<!DOCTYPE svg><svg\nxmlns='http://www.w3.org/2000/svg'></svg>", true),
        (#"<svg:svg xmlns:svg="http://www.w3.org/2000/svg"/>"#, true),
        (#"<svgfoo xmlns="http://www.w3.org/2000/svg"/>"#, false), ("<!DOCTYPE svg [<svg", false),
        ("<svg></svg>", false), ("<html xmlns=\"http://www.w3.org/2000/svg\"></html>", false), ("<!-- <svg", false),
        ("<svg", false),
    ])
    func `an SVG file has a root element in its namespace`(text: String, isSVG: Bool) {
        #expect((BrandFile.MediaType(of: Array(text.utf8)) == .svg) == isSVG)
    }

    @Test func `the example is valid`() throws {
        let brand = try Brand(contentsOf: Repository.root.appending(path: "examples/brand/brand.yaml").path)
        #expect(brand.name == "Example Tea" && brand.logo?.dark != nil && brand.links.count == 3)
    }
}
