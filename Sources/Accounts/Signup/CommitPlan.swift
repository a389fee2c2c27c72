/// The account that a draft makes or changes, and the statements that do it. Each kind of field adds its part.
package struct CommitPlan {
    let signups: Signups
    let draft: Draft
    let account: ID<Account>
    var email: EmailAddress?
    /// The time when the address was proved, as SQL.
    var emailProvedAt: SQL = "NULL::timestamptz"
    var username: String?
    /// The values without a column or table of their own, in the order of the flow.
    var profile: [JSON.Member] = []
    /// Conditions in addition to the draft's revision.
    var conditions: [SQL] = []
    /// Conditions on an account that existed before. If one is false, the draft has no use any more.
    var accountConditions: [SQL] = []
    /// The digests of the address that the draft has proved. The commit ends every other draft that has proved it.
    var provedDigests: [[UInt8]] = []
    /// Executed in this order after the account was created or locked. Each statement selects from ``owner``, so that it
    /// does nothing if the commit has not taken effect.
    var statements: [SQL] = []
    /// How the person can sign in later, as far as the draft has set it up, in words of RFC 8176.
    var factors: [String] = []
    /// Whether the draft has proved a second factor of an account that existed before.
    var hasSecondFactor = false
    /// The session that the commit starts, if it starts one.
    var session: SessionPlan?
    /// A field whose value cannot be read.
    var unreadableField: FieldName?

    init(signups: Signups, draft: Draft, account: ID<Account>) {
        (self.signups, self.draft, self.account) = (signups, draft, account)
    }
}
