internal import Foundation

/// The statements, limits and mails of a change of values in an account. The kind of each edited field adds its part.
package struct EditPlan {
    let signups: Signups
    let account: Account
    let language: Language
    /// The time of the database.
    let now: Date
    let before: Values
    let after: Values
    /// The valid answers that ``after`` does not contain, by field, such as the file of a photo. Each has the type
    /// `Input` of its kind.
    let inputs: [FieldName: any Sendable]
    /// The members of the profile to replace; nil removes a member.
    var profile: [(name: FieldName, value: JSON?)] = []
    /// The change of an identifier, such as a username; nil if there is none. The edit changes nothing if the new
    /// identifier is taken, or if ``Renaming/expression`` is false.
    var renaming: Renaming?
    /// The rate limits that the change consumes. If one of them is exceeded, the edit changes nothing.
    var limits: [Charge] = []
    /// The notices that are mailed to the address of the account if the change takes effect. None is mailed if the
    /// account has no address or has received too many notices, or if ``Renaming/isDone`` is true.
    var notices: [AccountNotice] = []
    /// The statements that run in this order after the account is locked. Each must do nothing unless ``isMade`` is
    /// true.
    var statements: [SQL] = []

    struct Renaming {
        /// The field with the identifier.
        let field: FieldName
        /// An SQL condition: the account already has the new identifier, for example because the same edit was sent
        /// twice at once. The edit then replaces no identifier and mails no notice.
        let isDone: SQL
        /// An SQL condition: another account or an open draft has the new identifier.
        let takenCondition: SQL
        /// An SQL expression that replaces the present identifier of the account, or removes it if there is no new one.
        /// It is false if any account has the new identifier.
        let expression: SQL
    }

    /// An SQL condition: the change takes effect.
    static let isMade: SQL = Signups.flag("changed")

    /// Adds to the plan that the profile gets the new value of the field or, if there is no new value, loses the member
    /// with the name of the field.
    mutating func updateProfile(_ field: Field) {
        profile.append((field.name, after.json(of: field.name)))
    }
}
