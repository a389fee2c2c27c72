/// A colour scheme of the pages. The browser shows the one that the person prefers.
enum ColourMode: String, CaseIterable, Sendable {
    case light, dark
}

/// A colour of the pages, as brand files name it. The style sheet derives all other colours from these, except the
/// transparent black of shadows and behind dialogs.
enum ColourName: String, CaseIterable, Sendable {
    case accent
    case onAccent = "on_accent"
    case background, card, text, muted, border, error, success

    /// The custom property of the style sheet that holds this colour.
    var property: String {
        switch self {
        case .accent: "--accent"
        case .onAccent: "--on-accent"
        case .background: "--backdrop"
        case .card: "--ground"
        case .text: "--text"
        case .muted: "--quiet"
        case .border: "--line"
        case .error: "--wrong"
        case .success: "--right"
        }
    }
}

/// The colours of the pages in one mode.
struct Palette: Sendable {
    let mode: ColourMode
    /// The colours that the brand file sets. The built-in colours apply to all others.
    var overrides: [ColourName: Colour] = [:]

    subscript(name: ColourName) -> Colour { overrides[name] ?? Self.builtIn(name, in: mode) }

    func contrast(of pair: ContrastPair) -> Double { self[pair.foreground].contrast(with: self[pair.background]) }

    /// The same colour as in properties.css, as a test verifies.
    private static func builtIn(_ name: ColourName, in mode: ColourMode) -> Colour {
        let (light, dark) =
            switch name {
            case .accent: ("#1d4ed8", "#8ab4ff")
            case .onAccent: ("#fff", "#0b1220")
            case .background: ("#f3f4f6", "#0d0f12")
            case .card: ("#fff", "#171a1f")
            case .text: ("#17191c", "#ececec")
            case .muted: ("#575b63", "#abafb8")
            case .border: ("#84888f", "#7b808a")
            case .error: ("#b3261e", "#ff8a80")
            case .success: ("#146c2e", "#7bd88f")
            }
        guard let colour = Colour(mode == .light ? light : dark) else {
            preconditionFailure("the built-in colour \"\(name.rawValue)\" is invalid: use #rgb or #rrggbb")
        }
        return colour
    }
}

/// A foreground colour, and the background colour on which the pages show it.
struct ContrastPair: Sendable {
    let foreground: ColourName
    let background: ColourName
    /// The lowest contrast ratio that WCAG 2.2 AA permits: 4.5 for text (1.4.3), 3 for the edges of controls (1.4.11).
    let minimum: Double

    private init(_ foreground: ColourName, on background: ColourName, atLeast minimum: Double = 4.5) {
        (self.foreground, self.background, self.minimum) = (foreground, background, minimum)
    }

    /// All pairs that are checked. Links have the accent colour, so it counts as text.
    static let all = [
        Self(.text, on: .background), Self(.text, on: .card), Self(.muted, on: .card), Self(.accent, on: .card),
        Self(.onAccent, on: .accent), Self(.error, on: .card), Self(.success, on: .card),
        Self(.border, on: .card, atLeast: 3),
    ]
}

extension Double {
    /// A contrast ratio with two decimal places. It is rounded down, so that a ratio that is too low never looks
    /// sufficient.
    var roundedDownToHundredths: Double { (self * 100).rounded(.down) / 100 }
}
