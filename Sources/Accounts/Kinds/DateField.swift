package import Foundation

/// A day of the proleptic Gregorian calendar. Its text form is `YYYY-MM-DD` in ASCII digits.
package struct CivilDate: Hashable, Comparable, Sendable {
    package let year: Int
    package let month: Int
    package let day: Int

    /// Returns nil if the day does not exist, or if the year is not in 1...9999.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1, day <= Self.days(of: month, in: year)
        else {
            return nil
        }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The day of an instant in a time zone. The arithmetic is `civil_from_days` in Howard Hinnant's “chrono-compatible
    /// low-level date algorithms”.
    package init(_ instant: Date, in zone: TimeZone) {
        let seconds = Int(instant.timeIntervalSince1970.rounded(.down)) + zone.secondsFromGMT(for: instant)
        let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    package static func days(of month: Int, in year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// Returns the age on `today` in completed years of a person who was born on this day. A person who was born on 29
    /// February becomes a year older on 1 March if the year is not a leap year.
    package func age(on today: CivilDate) -> Int {
        today.year - year - ((today.month, today.day) < (month, day) ? 1 : 0)
    }
}

/// A field for a day. The day must not be after today, unless the flow file sets `future`.
package struct DateField: FieldKind {
    package typealias Value = CivilDate
    package static let name = "date"
    /// The minimum age today, in completed years; nil if there is none.
    let minAge: Int?
    /// The maximum age today, in completed years. Nil stands for 150 or, if the day may be in the future, for no
    /// maximum.
    let maxAge: Int?
    let mayBeInFuture: Bool
    /// The time zone that decides which day is today; nil for the time zone of the flow.
    let zone: TimeZone?

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {
        minAge = try rules.integer("min_age", in: 0...150)
        maxAge = try rules.integer("max_age", in: 0...9998)
        if let minAge, let maxAge, minAge > maxAge {
            throw rules.error("\"min_age\" must not be greater than \"max_age\"", at: "min_age")
        }
        mayBeInFuture = try rules.flag("future", default: false)
        if mayBeInFuture, minAge != nil {
            throw rules.error("a field with \"future\" cannot have \"min_age\"", at: "future")
        }
        zone = try rules.zone("zone")
    }

    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> CivilDate
    {
        let text = try answer.text(of: field)
        guard let (year, month, day) = CivilDate.parts(of: text) else { throw Refusals(field, .badFormat) }
        guard let date = CivilDate(year: year, month: month, day: day) else { throw Refusals(field, .impossibleDate) }
        if let refusal = refusal(of: date, field, in: context) { throw Refusals([refusal]) }
        return date
    }

    private func refusal(of date: CivilDate, _ field: FieldName, in context: ValidationContext) -> Refusal? {
        let today = CivilDate(context.now, in: zone ?? context.flow.zone)
        if date > today, !mayBeInFuture { return Refusal(field, .inFuture) }
        let age = date.age(on: today)
        if let minAge, age < minAge { return Refusal(field, .tooYoung, ["min": .integer(minAge)]) }
        // No living person is older than 150, and this maximum finds many mistyped years.
        let maximum = maxAge ?? (mayBeInFuture ? nil : 150)
        if let maximum, age > maximum { return Refusal(field, .tooOld, ["max": .integer(maximum)]) }
        return nil
    }

    /// Validates the value even if ``ValidationContext/hasValidValues`` is true, because the age changes with time.
    package func holds(_ field: FieldName, in context: ValidationContext) -> Bool {
        value(in: context.values, of: field).map { refusal(of: $0, field, in: context) == nil } ?? false
    }

    /// Shows the date only in its own step and at the review, because it may be a date of birth. The overview of the
    /// draft shows only that there is a date.
    package func shown(_ value: CivilDate, at place: DisplayContext) -> JSON { place == .draft ? .isSet : value.json }

    package var serverRules: [JSON.Member] { zone.map { [.init("zone", .string($0.identifier))] } ?? [] }

    package func rules(in language: Language) -> [JSON.Member] {
        [.init("format", "YYYY-MM-DD")] + [minAge.map { .init("min_age", .integer($0)) }].compactMap { $0 }
            + [maxAge.map { .init("max_age", .integer($0)) }].compactMap { $0 }
            + (mayBeInFuture ? [.init("future", true)] : [])
    }

    package var control: Control { Control(type: "date", autocomplete: minAge == nil ? nil : "bday") }
    package var answerSchema: JSON { ["type": "string", "format": "date"] }
    package func shownSchema(at place: DisplayContext) -> JSON { place == .draft ? .isSetSchema : ["type": "string"] }

    package func masked(_ value: CivilDate) -> String { "•••" }

    package func templateMembers(_ form: FormField) -> [JSON.Member] {
        mayBeInFuture ? [] : [.init("latest", CivilDate(form.now, in: zone ?? form.zone).json)]
    }

    package func reviewText(_ shown: JSON, in language: Language) -> String {
        CivilDate(json: shown).map(language.messages.text) ?? ""
    }
}

extension CivilDate: StoredValue {
    package init?(json: JSON) {
        guard let (year, month, day) = json.string.flatMap(Self.parts) else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// The day as a text of the form `YYYY-MM-DD`.
    package var json: JSON {
        func digits(_ number: Int, _ count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: count - digits.utf8.count) + digits
        }
        return .string("\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))")
    }

    /// Returns the year, month and day of a text of the form `YYYY-MM-DD`, even if the day does not exist; nil for any
    /// other text.
    fileprivate static func parts(of text: String) -> (Int, Int, Int)? {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            bytes[range].allSatisfy { (0x30...0x39).contains($0) }
                ? bytes[range].reduce(0) { $0 * 10 + Int($1 - 0x30) } : nil
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10) else { return nil }
        return (year, month, day)
    }
}
