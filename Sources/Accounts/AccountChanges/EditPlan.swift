internal import Foundation

/// What a change of values does to an account. Each kind of field adds its part.
package struct EditPlan {
    let signups: Signups
    let account: Account
    let language: Language
    /// The time of the database.
    let now: Date
    let before: Values
    let after: Values
    /// The valid answers that are not values yet, by field. Each has the type `Input` of its kind.
    let inputs: [FieldName: any Sendable]
    /// The members of the profile to replace; nil removes a member.
    var profile: [(name: FieldName, value: JSON?)] = []
    /// Moves the account to another identifier. The condition is false, and nothing changes, if another account has it.
    var move: (field: FieldName, condition: SQL)?
    /// Rate limits; the change takes effect only within all of them.
    var limits: [Charge] = []
    /// The mails that tell the address of the account.
    var notices: [AccountNotice] = []
    /// Executed in this order after the account is locked. Each must do nothing unless ``isMade`` is true.
    var statements: [SQL] = []

    /// Whether the change takes effect, as SQL.
    static let isMade: SQL = Signups.flag("changed")

    /// Replaces the member of the profile by the new value.
    mutating func updateProfile(_ field: Field) {
        profile.append((field.name, after.json(of: field.name)))
    }
}
