package import Foundation

/// A query of the command `accounts show` for rows that belong to an account, such as those in the table of a kind of
/// field, and the function that turns the rows into a section of the output.
package struct AccountQuery {
    let select: SQL
    /// Turns the rows of `select` into a section. There may be no rows, for example because the account was created
    /// under another flow.
    let describe: (Rows) throws(DatabaseError) -> AccountSection
}

/// The part of the output of `accounts show` that an ``AccountQuery`` makes.
package struct AccountSection: Sendable {
    /// True if the text output shows the entries as lines before the table of the account's values, such as the factors
    /// of a sign-in. False if it shows them as rows at the end of that table, such as consents.
    package var precedesValues = false
    package var entries: [Entry] = []
    /// The members that the section adds to the JSON output. Their names are the same for every account, even if the
    /// query returns no rows.
    package var members: [JSON.Member] = []

    /// A line or a table row of the text output, such as “terms  accepted 2 h ago, version 2026-11”.
    package struct Entry: Sendable {
        /// The beginning of the line: the name of a field, or a word such as `factor` or `sessions`.
        package let label: String
        package let text: String
        /// A time that the output shows after `text`, relative to now; nil if there is none. In the table, entries with
        /// a time come last.
        package var time: Date?
        /// A remark that the output shows at the end, after a comma; nil if there is none.
        package var note: String?
    }
}
