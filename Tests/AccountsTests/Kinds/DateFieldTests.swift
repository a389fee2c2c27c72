import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("A date field")
struct DateFieldTests {
    /// A date field. Its answers are validated at noon of 1 January 2026, UTC.
    let date: AskedField

    init() throws {
        date = try AskedField(["name: born, kind: date"])
    }

    @Test(arguments: [
        "2026-01-01", "2025-12-31", "2024-02-29", "2000-02-29", "1990-04-30", "1990-12-31", "1970-01-01", "1876-01-01",
        "1875-01-02",
    ])
    func `a date in the past is accepted`(typed: String) throws {
        #expect(try date.canonical(.string(typed)) == .string(typed))
        #expect(try date.isSettled(on: .string(typed)))
    }

    @Test(arguments: [
        "infinity", "-infinity", "today", "now", "yesterday", "epoch", "J2451187", "allballs", "19990108", "1999-1-8",
        "99-01-08", "1999/01/08", "1999-01-08 ", " 1999-01-08", "1999-01-8 ", "01-08-1999", "1999-Jan-08", "1999-008",
        "1999-W01-5", "1999-01-08T00:00:00Z", "1999-01-08Z", "+1999-01-08", "-1999-01-08", "-199-01-08", "1999-+1-08",
        "1999-01--8", "11999-01-08", "1999-01-08\0", "1999-01-08\n", "１９９９-01-08", "1999-٠١-٠٨", "199٩-1-08",
        "1999‐01‐08",
        "1999-01-0\u{661}", "1999−01−08", "1999-01-08\u{301}", "한", "----------", "0x10-01-08", "1e10-01-08", " ",
    ])
    func `a date in another format is refused`(typed: String) {
        #expect(date.refusals(.string(typed)) == [Refusal("born", .badFormat)])
    }

    @Test(arguments: [
        "2023-02-29", "1900-02-29", "2100-02-29", "2024-02-30", "2025-04-31", "2025-06-31", "2025-09-31", "2025-11-31",
        "2025-01-32", "2025-00-10", "2025-13-01", "2025-01-00", "0000-01-01", "0000-00-00", "9999-99-99",
    ])
    func `a date that does not exist is refused`(typed: String) {
        #expect(date.refusals(.string(typed)) == [Refusal("born", .impossibleDate)])
    }

    @Test(arguments: ["2026-01-02", "2026-02-01", "2027-01-01", "2100-02-28", "9999-12-31"])
    func `a date in the future is refused`(typed: String) {
        #expect(date.refusals(.string(typed)) == [Refusal("born", .inFuture)])
    }

    @Test(arguments: ["0001-01-01", "1066-10-14", "1582-10-10", "1800-01-01", "1875-01-01"])
    func `a date more than 150 years ago is refused`(typed: String) {
        #expect(date.refusals(.string(typed)) == [Refusal("born", .tooOld, ["max": 150])])
    }

    @Test(arguments: ["2026-01-01", "2026-01-02", "2199-12-31", "9999-12-31"])
    func `the flow can allow dates in the future or far in the past`(typed: String) throws {
        let day = try AskedField(["name: day, kind: date, future: true"])
        #expect(try day.isSettled(on: .string(typed)))
        #expect(day.refusals("2026-02-29") == [Refusal("day", .impossibleDate)])
        #expect(day.refusals("1066-10-14").isEmpty)
        let founded = try AskedField(["name: day, kind: date, max_age: 400"])
        #expect(founded.refusals("1688-05-25").isEmpty && founded.refusals("1616-04-23").map(\.code) == [.tooOld])
    }

    @Test func `a missing answer is refused as required`() {
        #expect(date.refusals("") == [Refusal("born", .required)])
    }

    @Test(
        arguments: [19_990_108, true, .number(1999.5), ["1999-01-08"], ["year": 1999], .typed("1999-01-08")]
            as [FieldAnswer]
    )
    func `an answer that is not a string is refused`(answer: FieldAnswer) {
        #expect(date.refusals(answer) == [Refusal("born", .wrongType, ["expected": "string"])])
    }

    @Test(arguments: HostileText.all)
    func `a 64 KiB text is refused`(hostile: HostileText) {
        #expect(date.refusals(.string(hostile.text)) == [Refusal("born", .badFormat)])
        #expect(!date.holds(.string(hostile.text)))
    }

    @Test(arguments: [nil, "", "2023-02-29", "2027-01-01", 5] as [JSON?])
    func `a stored value that is not an acceptable date is invalid`(stored: JSON?) {
        #expect(!date.holds(stored))
    }

    @Test func `only the review shows the date`() {
        #expect(date.shown("1999-01-08", at: .draft) == ["set": true])
        #expect(date.shown("1999-01-08", at: .review) == "1999-01-08")
    }

    @Test(
        arguments: [
            ("kind: date", []), ("kind: date, min_age: 14", [.init("min_age", 14)]),
            ("kind: date, min_age: 0, max_age: 150", [.init("min_age", 0), .init("max_age", 150)]),
            ("kind: date, future: true", [.init("future", true)]),
        ] as [(String, [JSON.Member])]
    )
    func `the rules tell clients the minimum and maximum age`(rules: String, published: [JSON.Member]) throws {
        let kind = try AskedField(["name: born, \(rules)"]).field.kind
        #expect(kind.rules(in: .english) == [.init("format", "YYYY-MM-DD")] + published)
    }
}

@Suite("Age limits")
struct AgeTests {
    private func refusal(
        _ typed: String,
        at instant: String,
        in zone: String = "UTC",
        _ rules: String = "min_age: 14"
    ) throws -> Refusal.Code? {
        var date = try AskedField(["name: born, kind: date, \(rules)"], zone: zone)
        date.context = date.context.with(now: .at(instant))
        let refusals = date.refusals(.string(typed))
        #expect(date.holds(.string(typed)) == refusals.isEmpty)
        return refusals.first?.code
    }

    @Test func `a person may sign up on their fourteenth birthday, but not the day before`() throws {
        #expect(try refusal("2012-06-15", at: "2026-06-15T00:00:00Z") == nil)
        #expect(try refusal("2012-06-16", at: "2026-06-15T23:59:59Z") == .tooYoung)
        #expect(try refusal("2026-06-15", at: "2026-06-15T12:00:00Z") == .tooYoung)
        #expect(try refusal("2026-06-16", at: "2026-06-15T12:00:00Z") == .inFuture)
    }

    @Test func `the maximum age is accepted until the next birthday`() throws {
        let rules = "min_age: 14, max_age: 14"
        #expect(try refusal("2011-06-16", at: "2026-06-15T12:00:00Z", rules) == nil)
        #expect(try refusal("2011-06-15", at: "2026-06-15T12:00:00Z", rules) == .tooOld)
        #expect(try refusal("2012-06-15", at: "2026-06-15T12:00:00Z", rules) == nil)
        #expect(try refusal("2012-06-16", at: "2026-06-15T12:00:00Z", rules) == .tooYoung)
    }

    @Test func `refusals contain the age limit`() throws {
        let date = try AskedField(["name: born, kind: date, min_age: 14, max_age: 100"])
        #expect(date.refusals("2020-01-01") == [Refusal("born", .tooYoung, ["min": 14])])
        #expect(date.refusals("1920-01-01") == [Refusal("born", .tooOld, ["max": 100])])
    }

    @Test(arguments: [
        ("Asia/Seoul", "2026-06-14T14:59:59Z", "2026-06-14T15:00:00Z"),
        ("UTC", "2026-06-14T23:59:59Z", "2026-06-15T00:00:00Z"),
        ("America/New_York", "2026-06-15T03:59:59Z", "2026-06-15T04:00:00Z"),
        ("Pacific/Kiritimati", "2026-06-14T09:59:59Z", "2026-06-14T10:00:00Z"),
        ("Asia/Kolkata", "2026-06-14T18:29:59Z", "2026-06-14T18:30:00Z"),
    ])
    func `a birthday begins at midnight in the time zone of the flow`(zone: String, before: String, midnight: String)
        throws
    {
        #expect(try refusal("2012-06-15", at: before, in: zone) == .tooYoung)
        #expect(try refusal("2012-06-15", at: midnight, in: zone) == nil)
        #expect(try refusal("2026-06-15", at: before, in: zone, "min_age: 0") == .inFuture)
        #expect(try refusal("2026-06-15", at: midnight, in: zone, "min_age: 0") == nil)
    }

    @Test func `a person born on 29 February grows older on 1 March, or on 29 February in a leap year`() throws {
        #expect(try refusal("2012-02-29", at: "2026-02-28T23:59:59Z") == .tooYoung)
        #expect(try refusal("2012-02-29", at: "2026-03-01T00:00:00Z") == nil)
        #expect(try refusal("2012-02-29", at: "2028-02-28T23:59:59Z", "min_age: 16") == .tooYoung)
        #expect(try refusal("2012-02-29", at: "2028-02-29T00:00:00Z", "min_age: 16") == nil)
        #expect(try refusal("2012-02-28", at: "2026-02-28T00:00:00Z") == nil)
        #expect(try refusal("2012-03-01", at: "2028-02-29T23:59:59Z", "min_age: 16") == .tooYoung)
    }
}

@Suite("Calendar dates")
struct CivilDateTests {
    @Test func `the time zone of a field overrides that of the flow`() throws {
        var day = try AskedField(["name: day, kind: date, zone: Pacific/Kiritimati"], zone: "Pacific/Niue")
        day.context = day.context.with(now: .at("2026-01-01T10:30:00Z"))
        #expect(day.refusals("2026-01-02").isEmpty)
        #expect(day.refusals("2026-01-03") == [Refusal("day", .inFuture)])
    }

    @Test func `the last day that a form offers is today in the time zone of the field`() throws {
        let asked = try AskedField(["name: day, kind: date, zone: Pacific/Kiritimati"], zone: "Pacific/Niue")
        let form = FormField(
            field: asked.field,
            step: asked.context.flow.steps[0],
            value: .null,
            shown: .null,
            language: .english,
            now: .at("2026-01-01T10:30:00Z"),
            zone: asked.context.flow.zone
        )
        #expect(asked.field.kind.templateMembers(form) == [.init("latest", "2026-01-02")])
    }

    @Test func `dates range from 1 January 1 to 31 December 9999`() {
        #expect(CivilDate(year: 1, month: 1, day: 1) != nil)
        #expect(CivilDate(year: 9999, month: 12, day: 31) != nil)
        #expect(CivilDate(year: 0, month: 12, day: 31) == nil)
        #expect(CivilDate(year: 10_000, month: 1, day: 1) == nil)
        #expect(CivilDate(year: 2000, month: 1, day: -1) == nil)
    }

    @Test func `a year has 365 days, and 366 in 97 years of 400`() {
        let lengths = (1601...2000).map { year in (1...12).reduce(0) { $0 + CivilDate.days(of: $1, in: year) } }
        #expect(lengths.count { $0 == 366 } == 97 && lengths.count { $0 == 365 } == 303)
    }

    @Test func `dates are ordered by year, month and day`() throws {
        let days = try ["1999-12-31", "2000-01-01", "2000-01-02", "2000-02-01", "2001-01-01"].map { text in
            let parts = text.split(separator: "-").compactMap { Int($0) }
            return try #require(CivilDate(year: parts[0], month: parts[1], day: parts[2]))
        }
        #expect(days.shuffled().sorted() == days)
    }

    @Test(arguments: [
        (0, "UTC", 1970, 1, 1), (-1, "UTC", 1969, 12, 31), (-0.5, "UTC", 1969, 12, 31), (86_399.999, "UTC", 1970, 1, 1),
        (86_400, "UTC", 1970, 1, 2), (951_782_400, "UTC", 2000, 2, 29), (951_868_800, "UTC", 2000, 3, 1),
        (-62_135_596_800, "UTC", 1, 1, 1), (-62_135_596_801, "UTC", 0, 12, 31), (253_402_300_799, "UTC", 9999, 12, 31),
        (-11_676_096_000, "UTC", 1600, 1, 1), (0, "America/New_York", 1969, 12, 31), (54_000, "Asia/Seoul", 1970, 1, 2),
    ])
    func `an instant has the expected date`(seconds: Double, zone: String, year: Int, month: Int, day: Int) throws {
        let zone = try #require(TimeZone(identifier: zone))
        let date = CivilDate(Date(timeIntervalSince1970: seconds), in: zone)
        #expect((date.year, date.month, date.day) == (year, month, day))
    }

    @Test(arguments: [
        "UTC", "Asia/Seoul", "America/New_York", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia",
        "Pacific/Kiritimati",
        "Europe/Dublin", "Africa/Casablanca",
    ])
    func `the date of an instant equals that of Foundation's calendar`(zone: String) throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        var chance = SeededChance(seed: 7)
        // The instants are between 1600 and 2400. Before 1582, Foundation's calendar has Julian dates.
        for _ in 0..<300 {
            let instant = Date(timeIntervalSince1970: .random(in: -11_676_000_000..<13_569_000_000, using: &chance))
            let days = calendar.dateComponents([.year, .month, .day], from: instant)
            let date = CivilDate(instant, in: calendar.timeZone)
            #expect((date.year, date.month, date.day) == (days.year, days.month, days.day), "\(instant)")
        }
    }

    @Test(arguments: ["2000-01-01", "1999-12-31", "2004-02-28", "2003-03-01", "1987-10-25"])
    func `an age increases on each birthday and on no other day`(birth: String) throws {
        let noon = Date.at(birth + "T12:00:00Z")
        let born = CivilDate(noon, in: .gmt)
        var age = 0
        for day in 1...9000 {
            let today = CivilDate(noon + Double(day) * 86_400, in: .gmt)
            if (today.month, today.day) == (born.month, born.day) { age += 1 }
            #expect(born.age(on: today) == age)
        }
        #expect(age == 24)
    }
}
