import Accounts
import ArgumentParser

/// The flags of a command that prints one page of a list.
struct PageFlags<Cursor: ExpressibleByArgument & Sendable>: ParsableArguments {
    @Option(help: "The maximum number of items on the page.") var limit = 50
    @Option(
        help: "Continues after the previous page: pass the value of --after in its last line, or its \"next\" in JSON."
    )
    var after: Cursor?

    func validate() throws {
        guard (1...10_000).contains(limit) else {
            throw ValidationError("invalid --limit \(limit): pass a number from 1 to 10000")
        }
    }
}

extension ListPage {
    /// Returns the line below the table, such as "50 of 1,234 accounts; next page: --after
    /// 01a1fdb2-1117-7906-a197-83af84022e4d".
    private func summary(of noun: String) -> String {
        let count = "\(Self.grouped(items.count)) of \(Self.grouped(total)) \(noun)\(total == 1 ? "" : "s")"
        return next.map { "\(count); next page: --after \($0)" } ?? count
    }

    /// Returns the number with commas between groups of three digits.
    private static func grouped(_ number: Int) -> String {
        var text = "\(number)"
        for position in stride(from: text.utf8.count - 3, to: 0, by: -3) {
            text.insert(",", at: text.index(text.startIndex, offsetBy: position))
        }
        return text
    }

    /// Returns the page as a table, with the line of ``summary(of:)`` below it.
    ///
    /// - Parameters:
    ///   - noun: the singular noun for an item, such as "account".
    ///   - none: the text that is returned instead if the list has no items, such as "no accounts".
    func text(in format: ListFormat<Item>, of noun: String, none: String, isWide: Bool) -> String {
        if total == 0 { return none }
        return "\(format.table(of: items, at: now).text(isWide: isWide))\n\n\(summary(of: noun))"
    }

    /// - Parameter name: the name of the member with the items.
    func json(_ name: String, in format: ListFormat<Item>) -> JSON {
        .object([
            .init(name, .array(items.map(format.json(of:)))), .init("total", .integer(total)),
            .init("next", next.map(JSON.string) ?? .null),
        ])
    }
}
