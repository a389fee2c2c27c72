/// A plural form of a text with a number. The names are those of Unicode CLDR.
enum PluralForm: String, CaseIterable, Sendable {
    case zero, one, two, few, many, other
}

/// The rule by which a language chooses the plural form for a whole number below a million: the cardinal rules of
/// Unicode CLDR for the languages in ``languages``.
enum PluralRule: Sendable {
    /// `other` for all numbers, as in Japanese and Korean.
    case none
    /// `one` for 1, otherwise `other`, as in English and German.
    case one
    /// `one` for 0 and 1, otherwise `other`, as in French.
    case zeroOrOne
    case arabic, czech, hebrew, icelandic, latvian, lithuanian, polish, romanian, russian, serbian, slovenian

    private static let languages: [(rule: PluralRule, tags: String)] = [
        (
            .none,
            """
            bm bo dz hnj id ig ii in ja jbo jv jw kde kea km ko lkt lo ms my nqo osa sah ses sg su th to tpi vi wo yo yue zh
            """
        ),
        (
            .zeroOrOne,
            "ak am as bho bn csw doi fa ff fr gu guw hi hy kab kn kok ln mg nso pa pcm pt si ti wa zu"
        ),
        // The only region whose rule differs from that of its language.
        (.one, "pt-pt"), (.arabic, "ar ars"), (.czech, "cs sk"),
        (.hebrew, "he iu iw naq sat se sma smi smj smn sms"), (.icelandic, "is mk"), (.latvian, "lv prg"),
        (.lithuanian, "lt"), (.polish, "pl"), (.romanian, "ro mo"), (.russian, "be ru uk"),
        (.serbian, "bs hr sh sr"), (.slovenian, "dsb hsb sl"),
    ]

    /// The rule of a language, or of its region if that has its own; ``one`` if the language is not listed.
    init(tag: String) {
        let tag = tag.lowercased()
        self = Self.listed(tag) ?? Self.listed(String(tag.prefix { $0 != "-" })) ?? .one
    }

    private static func listed(_ tag: String) -> PluralRule? {
        languages.first { $0.tags.split(separator: " ").contains { $0 == tag } }?.rule
    }

    /// The forms that the rule can choose, and `other`, which every text has.
    var forms: Set<PluralForm> { Set((0...120).map(form) + [.other]) }

    func form(of number: Int) -> PluralForm {
        let number = number.magnitude
        // The last digit, and the last two digits.
        let (last, lastTwo) = (number % 10, number % 100)
        return switch self {
        case .none: .other
        case .one: number == 1 ? .one : .other
        case .zeroOrOne: number < 2 ? .one : .other
        case .hebrew: number == 1 ? .one : number == 2 ? .two : .other
        case .icelandic: last == 1 && lastTwo != 11 ? .one : .other
        case .czech: number == 1 ? .one : (2...4).contains(number) ? .few : .other
        case .romanian: number == 1 ? .one : number == 0 || (1...19).contains(lastTwo) ? .few : .other
        case .latvian:
            last == 0 || (11...19).contains(lastTwo) ? .zero : last == 1 ? .one : .other
        case .lithuanian:
            (11...19).contains(lastTwo) ? .other : last == 1 ? .one : (2...9).contains(last) ? .few : .other
        case .polish:
            number == 1 ? .one : (2...4).contains(last) && !(12...14).contains(lastTwo) ? .few : .many
        case .russian: Self.eastSlavic(last, lastTwo) ?? .many
        case .serbian: Self.eastSlavic(last, lastTwo) ?? .other
        case .slovenian:
            lastTwo == 1 ? .one : lastTwo == 2 ? .two : (3...4).contains(lastTwo) ? .few : .other
        case .arabic:
            switch number {
            case 0: .zero
            case 1: .one
            case 2: .two
            default: (3...10).contains(lastTwo) ? .few : (11...99).contains(lastTwo) ? .many : .other
            }
        }
    }

    private static func eastSlavic(_ last: UInt, _ lastTwo: UInt) -> PluralForm? {
        if last == 1, lastTwo != 11 { return .one }
        return (2...4).contains(last) && !(12...14).contains(lastTwo) ? .few : nil
    }
}
