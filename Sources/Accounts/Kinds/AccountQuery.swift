package import Foundation

/// How `accounts show` reads the rows that one kind has written for an account, and shows them.
package struct AccountQuery {
    let select: SQL
    /// Describes the rows of `select`. An account may have none, for example because it was created under another flow.
    let describe: (Rows) throws(DatabaseError) -> AccountSection
}

/// What `accounts show` shows of the tables of one kind.
package struct AccountSection: Sendable {
    /// True if the section comes before the values of the account, such as the factors of its sign-in. The text output
    /// then has a line for each entry; after the values it has a row in the table of values.
    package var precedesValues = false
    package var entries: [Entry] = []
    /// The members of the JSON output. Every account has all of them, even without such rows.
    package var members: [JSON.Member] = []

    /// A line of the text output, such as “terms  accepted 2 h ago, version 2026-11”.
    package struct Entry: Sendable {
        /// The name of the field, or `factor`.
        package let label: String
        package let text: String
        /// Shown after the text, relative to now. Entries with a time come last.
        package var time: Date?
        /// Shown at the end, after a comma.
        package var note: String?
    }
}
