/// The account that a draft becomes, and the statements that create it. Each kind of field adds its part.
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
    /// The digests of the address that the draft has proved. The commit ends every other draft with this address.
    var provedDigests: [[UInt8]] = []
    /// Executed in this order after the account was created. Each statement selects from ``newAccount``, so that it
    /// does nothing if the account was not created.
    var statements: [SQL] = []
    /// A field whose value cannot be read.
    var unreadableField: FieldName?

    init(signups: Signups, draft: Draft, account: ID<Account>) {
        (self.signups, self.draft, self.account) = (signups, draft, account)
    }
}

extension CommitPlan {
    /// One row with the column `id`, or no row if the account was not created.
    var newAccount: SQL { "(SELECT id FROM accounts WHERE id = \(account)) AS account" }

    /// Whether the draft is at the revision that was validated, and no other account has its identifiers.
    var isPossible: SQL {
        (conditions + [areIdentifiersFree]).reduce(signups.exists(draft)) { "\($0) AND \($1)" }
    }

    private var areIdentifiersFree: SQL {
        identifiers.reduce("true") { free, identifier in
            """
            \(free) AND NOT EXISTS (
                SELECT FROM identifiers WHERE kind = \(identifier.kind) AND value = \(identifier.value))
            """
        }
    }

    private var identifiers: [(kind: String, value: String)] {
        signups.flow.fields.filter(\.isIdentifier).compactMap { field in
            draft.values.json(of: field.name)?.string.map { (type(of: field.kind).name, $0) }
        }
    }

    var insertAccount: SQL {
        """
        INSERT INTO accounts (id, email, email_proved_at, username, profile, locale, flow)
        SELECT \(account), \(email?.rawValue), \(emailProvedAt), \(username), \(JSON.object(profile).text)::jsonb,
               \(draft.language.rawValue), \(signups.flow.id)
         WHERE \(isPossible) AND \(Signups.isWithinLimits)
        RETURNING email, username, profile::text, created_at
        """
    }

    /// Keeps the draft for as long as its token may be used to read the account.
    var closeDraft: SQL {
        """
        UPDATE \(signups.table(of: draft.id))
           SET account_id = account.id, revision = revision + 1, updated_at = now(), step = 'committed', sealed = '',
               email_digest = NULL
          FROM \(newAccount) WHERE drafts.id = \(draft.id)
        """
    }

    var insertIdentifiers: [SQL] {
        identifiers.map { kind, value in
            "INSERT INTO identifiers (kind, value, account) SELECT \(kind), \(value), id FROM \(newAccount)"
        }
    }

    /// - Parameter row: the result of ``insertAccount``.
    func account(_ row: Row) throws(DatabaseError) -> Account {
        try Account(account, row)
    }
}
