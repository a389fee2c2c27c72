import Foundation
import TestSupport

@testable import Accounts

/// A random answer and its meaning. Because the meaning is known, ``SignupModel`` need not parse the answer.
struct RandomAnswer {
    /// Nil if the submission does not contain the field.
    let answer: FieldAnswer?
    let meaning: Meaning

    enum Meaning: Equatable {
        case nothing
        /// An answer that the kind refuses under any settings of the field, and the code of the refusal.
        case nonsense(Refusal.Code)
        case address(String)
        case name(String)
        case text(String)
        case number(Int)
        case birth(String, age: Int)
        case option(String)
        case options([String])
        /// The answer to a consent. `to` is the version of the document; nil until the answer is stored.
        case agreement(Bool, to: Int? = nil)
        case password(String)
        case repetition(String)
        case digits(String)
    }

    var isNonsense: Bool { if case .nonsense = meaning { true } else { false } }

    init(_ answer: FieldAnswer?, _ meaning: Meaning) {
        (self.answer, self.meaning) = (answer, meaning)
    }
}

/// A person whose usernames and addresses contain a unique tag. `year` is the current year.
struct RandomPerson {
    let tag: String
    let year: Int
    /// A username that another draft has leased.
    static let takenName = "somebody-else"

    /// The person's addresses for one field. The domain contains the name of the field, so a mail shows its field.
    func addresses(in field: FieldName) -> [String] {
        usernames.map { "\($0)@\(field).example.com" }
    }

    static func tag(of seed: UInt64) -> String { String(format: "%016lx", seed) }

    static func tag(of address: String) -> String {
        String(address.prefix { $0 != "@" }.drop { $0 != "." }.dropFirst())
    }

    var usernames: [String] { (0..<2).map { "kim\($0).\(tag)" } }

    /// Three passwords. The second equals a username of the person, and the third an address.
    var passwords: [String] { ["a pass phrase of mine", usernames[0], addresses(in: "email")[0]] }
}

extension RandomPerson {
    enum Care {
        case careful, careless
    }

    /// A random answer. With `.careful`, it is chosen again, at most 60 times, until the rule of the field accepts it.
    ///
    /// - Parameter digits: the last code that was mailed for a code field; nil if there is none.
    func answer(
        to field: RandomFlow.Field,
        with care: Care,
        digits: String?,
        using chance: inout SeededChance
    ) -> RandomAnswer {
        let isBlank = field.isRequired ? care == .careless && chance.happens(in: 12) : chance.happens(in: 35)
        if isBlank {
            var blanks: [FieldAnswer?] = [nil, .json(.null), "", []]
            if case .text = field.rule { blanks.append(" \t ") }
            return RandomAnswer(blanks.randomElement(using: &chance)!, .nothing)
        }
        if care == .careless, chance.happens(in: 12) { return nonsense(for: field, using: &chance) }
        var answer = wellFormed(for: field, digits, using: &chance)
        for _ in 0..<60 where care == .careful && field.fault(of: answer.meaning) != nil {
            answer = wellFormed(for: field, digits, using: &chance)
        }
        return answer
    }

    /// A random well-formed answer, which the rule of the field may accept or refuse.
    private func wellFormed(
        for field: RandomFlow.Field,
        _ digits: String?,
        using chance: inout SeededChance
    ) -> RandomAnswer {
        switch field.rule {
        case .email:
            let address = addresses(in: field.name).randomElement(using: &chance)!
            return RandomAnswer(.string(chance.happens(in: 30) ? address.uppercased() : address), .address(address))
        case .code:
            guard let digits, chance.happens(in: 80) else { return RandomAnswer("000000", .digits("000000")) }
            return RandomAnswer(.string(digits), .digits(digits))
        case .username:
            let name = chance.happens(in: 8) ? Self.takenName : usernames.randomElement(using: &chance)!
            return RandomAnswer(.string(chance.happens(in: 30) ? name.uppercased() : name), .name(name))
        case .text:
            var text = String(
                repeating: "abc".randomElement(using: &chance)!,
                count: .random(in: 1...9, using: &chance)
            )
            if chance.happens(in: 10) { text = "a\nb" }
            return RandomAnswer(.string(chance.happens(in: 20) ? "  \(text) " : text), .text(text))
        case .number:
            let number = Int.random(in: -25...25, using: &chance)
            return RandomAnswer(.json(.integer(number)), .number(number))
        case .date:
            let age = Int.random(in: 0...155, using: &chance)
            let date = "\(year - age)-01-01"
            return RandomAnswer(.string(date), .birth(date, age: age))
        case .choice(_, isMultiple: false):
            let option = ["a", "b", "c", "d", "e"].randomElement(using: &chance)!
            return RandomAnswer(.string(option), .option(option))
        case .choice(_, isMultiple: true):
            let chosen = (0..<3).map { _ in ["a", "b", "c", "d", "e"].randomElement(using: &chance)! }
            return RandomAnswer(.json(.array(chosen.map { .string($0) })), .options(Set(chosen).sorted()))
        case .consent:
            let isAccepted = chance.happens(in: 75)
            return RandomAnswer(.bool(isAccepted), .agreement(isAccepted))
        case .password, .confirmation:
            let password = (passwords + [usernames[0], "short"]).randomElement(using: &chance)!
            let isRepeated = if case .confirmation = field.rule { true } else { false }
            return RandomAnswer(.password(password), isRepeated ? .repetition(password) : .password(password))
        }
    }

    private func nonsense(for field: RandomFlow.Field, using chance: inout SeededChance) -> RandomAnswer {
        let all: [(FieldAnswer, Refusal.Code)] =
            switch field.rule {
            case .email: [("nobody", .badFormat), (7, .wrongType), ("a\u{7}@example.com", .badCharacters)]
            case .code: [("12ab", .badFormat), ("12345", .badFormat), (7, .wrongType)]
            case .username: [("1kim", .badFormat), ("k", .tooShort), ("admin", .reserved), ("kim!", .badCharacters)]
            case .text: [(7, .wrongType), ("a\u{7}", .badCharacters), ("\u{200B}", .badCharacters)]
            case .number: [("7", .wrongType), (.number(0.5), .wrongType), (1000, .notAllowed)]
            case .date:
                [
                    ("yesterday", .badFormat), ("2023-02-29", .impossibleDate),
                    (.string("\(year + 2)-01-01"), .inFuture),
                ]
            case .choice(_, isMultiple: false): [(7, .wrongType), (["a"], .wrongType), ("zebra", .notAllowed)]
            case .choice(_, isMultiple: true): [(7, .wrongType), ("a", .wrongType), (["a", "zebra"], .notAllowed)]
            case .consent: [("yes", .wrongType), (1, .wrongType)]
            case .password, .confirmation: [(7, .wrongType)]
            }
        let (answer, code) = all.randomElement(using: &chance)!
        return RandomAnswer(answer, .nonsense(code))
    }
}
