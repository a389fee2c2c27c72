/// The account that a draft becomes, and the statements that make it. Each kind of field adds its part.
package struct CommitPlan {
    let signups: Signups
    let draft: Draft
    let account: ID<Account>
    var email: EmailAddress?
    /// When the address was proved, as SQL.
    var emailProvedAt: SQL = "NULL::timestamptz"
    var username: String?
    /// The values that have no place of their own, in the order of the flow.
    var profile: [JSON.Member] = []
    /// What must hold beside the draft's revision.
    var conditions: [SQL] = []
    /// The digests of the address that the draft has proved. The commit ends every other draft for it.
    var provedDigests: [[UInt8]] = []
    /// Executed after the account was made. Each selects from ``newAccount``, so that it does nothing if it was not made.
    var statements: [SQL] = []
    /// A field whose value cannot be read.
    var unreadableField: FieldName?

    init(signups: Signups, draft: Draft, account: ID<Account>) {
        (self.signups, self.draft, self.account) = (signups, draft, account)
    }
}

extension CommitPlan {
    /// One row with the column `id`, or none where the account was not made.
    var newAccount: SQL { "(SELECT id FROM accounts WHERE id = \(account)) AS account" }

    /// Whether the draft is the one that was checked, and no other account has its identifiers.
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

    /// The draft stays for as long as its token may ask for the account.
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

    /// - Parameter row: what ``insertAccount`` returned.
    func account(_ row: Row) throws(DatabaseError) -> Account {
        try Account(account, row)
    }
}
