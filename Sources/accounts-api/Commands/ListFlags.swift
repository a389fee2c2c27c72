import Accounts
import ArgumentParser
import Foundation

/// The flags of a command that prints a list: what it shows of each item.
struct ListFlags: ParsableArguments {
    @Option(help: "Only these columns of the table, in this order, such as id,state; not with --json.")
    var columns: NameList?
    @Option(help: "Only these members of each item, in this order, such as id,state; needs --json.")
    var fields: NameList?

    /// Throws a usage error if `--columns` is given for JSON output, or `--fields` for a table.
    fileprivate func check(asJSON: Bool) throws {
        if asJSON, columns != nil { throw ValidationError("--columns is for the table: with --json, pass --fields") }
        if !asJSON, fields != nil { throw ValidationError("--fields needs --json: for the table, pass --columns") }
    }
}

extension ListFormat {
    /// Returns the format with only the columns and the members that the operator has chosen, or with all of them. A
    /// table that is too wide for the terminal omits no column that the operator has chosen. Throws a usage error if a
    /// name is unknown, or if an option does not fit the form of output.
    func chosen(by flags: ListFlags, asJSON: Bool) throws -> ListFormat {
        try flags.check(asJSON: asJSON)
        return ListFormat(
            try flags.columns?.choose(from: columns, "column", named: \.name) ?? columns,
            omittingIfNarrow: flags.columns == nil ? dispensable : [],
            fields: try flags.fields?.choose(from: fields, "field", named: \.name) ?? fields
        )
    }
}

/// An argument that is a list of names, such as `id,step,expires`. Case does not matter, and a name with a space may be
/// written as `last_error` or `last-error`. A name that is repeated counts once.
struct NameList: ExpressibleByArgument, Sendable {
    private let names: [String]

    init(argument: String) {
        let names = argument.split(separator: ",", omittingEmptySubsequences: false)
        self.names = names.map { Self.key(String($0)) }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Returns the items with the names of this list, in the order of the names.
    ///
    /// - Parameters:
    ///   - noun: the noun for an item in the error message, such as "column".
    ///   - name: returns the name of an item.
    fileprivate func choose<Item>(from items: [Item], _ noun: String, named name: (Item) -> String) throws -> [Item] {
        try names.map { wanted in
            if let item = items.first(where: { Self.key(name($0)) == wanted }) { return item }
            let known = items.map { Self.key(name($0)) }.joined(separator: ", ")
            throw ValidationError("unknown \(noun) \"\(wanted.printable)\": the list has \(known)")
        }
    }

    /// The form of a name in which names are compared.
    private static func key(_ name: String) -> String {
        name.trimmingCharacters(in: .whitespaces).lowercased().replacing(/[ -]/, with: "_")
    }
}
