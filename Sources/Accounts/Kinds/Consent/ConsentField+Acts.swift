internal import Foundation

/// The members of ``FieldActs`` that a consent needs.
extension ConsentField {
    package func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError) {
        guard let consent = value(in: plan.draft.values, of: field.name) else { return }
        plan.statements.append(
            """
            INSERT INTO consents (account, field, accepted, version, document, locale, given_at)
            SELECT id, \(field.name.rawValue), \(consent.isAccepted), \(consent.version),
                   decode(\(consent.digest), 'hex'), \(consent.locale), \(consent.givenAt)::timestamptz
              FROM \(plan.owner)
            """
        )
    }

    package static func accountValues(of account: ID<Account>) -> SQL? {
        """
        SELECT field, jsonb_build_object(
                   'accepted', accepted, 'version', version, 'sha256', encode(document, 'hex'), 'locale', locale,
                   'at', to_char(given_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))::text
          FROM consents WHERE account = \(account)
        """
    }

    /// Records a changed answer. If the answer is missing and the account had accepted a document, records that the
    /// account declines the present document. `past_consents` keeps the earlier answers.
    package func edit(_ field: Field, _ plan: inout EditPlan) async throws(SignInError) {
        let before = value(in: plan.before, of: field.name)
        let withdrawal = before?.isAccepted == true ? consent(false, in: plan.language, at: plan.now) : nil
        guard let after = value(in: plan.after, of: field.name) ?? withdrawal, after.json != before?.json else {
            return
        }
        if !plan.limits.contains(where: { $0.name == Limits.OtherName.consentChanges.rawValue }) {
            plan.limits.append(plan.signups.charge(.consentChanges, Self.changes, [plan.account.id.bytes]))
        }
        plan.statements.append(
            """
            SELECT record_consent(\(plan.account.id), \(field.name.rawValue), \(after.isAccepted), \(after.version),
                                  decode(\(after.digest), 'hex'), \(after.locale))
             WHERE \(EditPlan.isMade)
            """
        )
    }

    /// A rate limit: an account may change consents in 50 requests a day.
    private static let changes = Limit(50, per: .seconds(86_400))

    package static func accountQuery(of account: ID<Account>) -> AccountQuery? {
        AccountQuery(
            select: """
                SELECT field, accepted, version, given_at, NULL::timestamptz AS ended_at
                  FROM consents WHERE account = \(account)
                UNION ALL
                SELECT field, accepted, version, given_at, ended_at FROM past_consents WHERE account = \(account)
                ORDER BY field, given_at
                """
        ) { rows throws(DatabaseError) in
            var section = AccountSection()
            var (consents, past): ([JSON], [JSON]) = ([], [])
            for row in rows {
                var columns = row.columns
                let consent = try GivenConsent(&columns)
                if let end = try columns.next(Date?.self) {
                    past.append(.object(consent.members + [.init("ended_at", .string(end.timestamp))]))
                } else {
                    section.entries.append(consent.entry)
                    consents.append(.object(consent.members))
                }
            }
            section.members = [.init("consents", .array(consents)), .init("past_consents", .array(past))]
            return section
        }
    }
}

extension GivenConsent {
    fileprivate var members: [JSON.Member] {
        [
            .init("field", .string(field)), .init("version", .string(version)), .init("accepted", .bool(isAccepted)),
            .init("at", .string(givenAt.timestamp)),
        ]
    }

    fileprivate var entry: AccountSection.Entry {
        .init(
            label: field,
            text: isAccepted ? "accepted" : "not accepted",
            time: givenAt,
            note: "version \(version)"
        )
    }
}
