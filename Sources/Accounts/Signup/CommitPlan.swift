/// The account that a draft creates or changes, and the statements that do it. Each kind of field adds its part.
package struct CommitPlan {
    let signups: Signups
    let draft: Draft
    let account: ID<Account>
    var email: EmailAddress?
    /// An SQL expression for the time when the address was proved.
    var emailProvedAt: SQL = "NULL::timestamptz"
    var username: String?
    /// The values without a column or table of their own, in the order of the flow.
    var profile: [JSON.Member] = []
    /// Conditions in addition to the draft's revision. If one is false, the commit does not take effect.
    var conditions: [SQL] = []
    /// Further conditions, for a draft that changes the address of an account: about the account, its session and its
    /// earlier changes of the address. If one is false, the commit does not take effect, and the draft ends afterwards.
    var accountConditions: [SQL] = []
    /// A condition for a draft that changes the address: the session was confirmed recently enough. If it is false, the
    /// commit does not take effect. The draft stays, so that the person can confirm the session, unless the client that
    /// commits has another session. Nil for other drafts.
    var confirmation: SQL?
    /// The digests of the address that identifies the account, one for each key; empty if the draft has not proved it.
    /// The commit ends every other open draft that has proved this address.
    var provedDigests: [[UInt8]] = []
    /// The statements that run in this order after the account was created or locked. Each statement reads ``owner``,
    /// so it does nothing if the commit does not take effect. A kind of field with its own table, such as
    /// ``ConsentField``, adds the statements for that table; ``Signups/plan(for:_:)`` adds those that belong to no
    /// field.
    var statements: [SQL] = []
    /// The methods of sign-in that the draft has set up, as values of `amr` (RFC 8176).
    var factors: [String] = []
    /// Whether the person has proved a second factor that the account had before this draft.
    var hasProvedSecondFactor = false
    /// The session that the commit starts, or gives a new token; nil for none.
    var session: SessionPlan?
    /// The first field whose value cannot be read, or was replaced since the draft was read; nil if there is none.
    var unreadableField: FieldName?

    init(signups: Signups, draft: Draft, account: ID<Account>) {
        (self.signups, self.draft, self.account) = (signups, draft, account)
    }
}
