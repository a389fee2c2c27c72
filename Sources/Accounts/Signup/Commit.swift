internal import Foundation

package enum CommitError: Error {
    /// A required step is incomplete, or a value is no longer valid or cannot be read.
    case incomplete(SignupProgress)
    /// An account has the identifier in this field, or the address in this field is reserved for an account. For an
    /// address, only the commit reports this, because the draft has proved the address by then.
    case identifierTaken(FieldName)
    /// The draft is not at the requested revision.
    case stale(Draft)
    case limited(LimitReached)
    case find(FindError)
    /// The commit of an address change needs a confirmation of the session first (``CommitPlan/confirmation``).
    case confirmationRequired
    /// The draft of a recovery or of an address change was committed before, and this call returns no session: the
    /// session of the commit has ended or has another token, the commit is more than ten minutes ago, or the caller
    /// names no client.
    case finished
    /// The draft kept changing, too many requests waited for it, or the deadline passed before the turn of this one.
    case contended
    case database(DatabaseError)
}

/// The result of a commit.
package struct Commit: Sendable {
    package let account: Account
    /// False if the draft was already committed: by an earlier call, or by an earlier attempt of this call whose
    /// outcome was unknown (``DatabaseError/outcomeUnknown(_:)``).
    package let isNew: Bool
    /// The session that the commit has started or given a new token; nil if the commit signs nobody in, or if a
    /// repeated commit cannot return the session any more.
    package let session: NewSession?
}

extension Signups {
    /// Creates the account of the draft, or changes an existing account, in one transaction, which is sent in one round
    /// trip.
    ///
    /// In a sign-up, a repeated call for the same draft returns the same account. The transaction requires the revision
    /// that was validated, so only validated values are committed. A kind of field with a table of its own writes that
    /// table: its ``FieldActs/commit(_:_:)`` adds statements to ``CommitPlan/statements``. See
    /// `Kinds/<Kind>/<Kind>Field+Acts.swift`, for example that of ``ConsentField``. `plan(for:_:)` adds what belongs to
    /// no field.
    ///
    /// - Parameters:
    ///   - revision: the revision that the client requires, if any.
    ///   - client: the client that the commit signs in; nil if the commit signs nobody in. Ignored for a sign-up whose
    ///     flow has `after_commit: none`. A repeated call returns the same session for ten minutes.
    package func commit(
        _ draft: Draft,
        at revision: Int? = nil,
        signingIn client: CommittingClient? = nil
    ) async throws(CommitError) -> Commit {
        let client = flow.signIn.startsSessionAtCommit || flow.purpose != .signup ? client : nil
        // The latest attempt whose outcome is unknown.
        var unknown: CommitPlan?
        return try await retryingInTurn(draft) { (draft) throws(CommitError) -> Commit? in
            if let id = draft.account {
                // Each attempt to commit a sign-up uses another id for the account, so the id tells which attempt has
                // taken effect.
                if flow.purpose == .signup, let attempt = unknown, attempt.account == id {
                    count(commitOf: attempt.draft)
                    if attempt.session != nil { funnel.answered(Funnel.signIn, ofFlow: flow.id, after: 0) }
                }
                return try await repeated(id, draft, client)
            }
            if let revision, revision != draft.revision { throw .stale(draft) }
            let progress = SignupProgress(of: validationContext(of: draft).validatingAll)
            guard progress.isReady else { throw .incomplete(progress) }
            let plan = try await plan(for: draft, client)
            if let field = plan.unreadableField {
                let now = try await reread(draft, orThrow: CommitError.find)
                if now.revision == draft.revision { throw .incomplete(progress.lacking(field, in: flow)) }
                return nil
            }
            switch try await write(plan) {
            case .made(let account, let session):
                outbox.wakeSender()
                count(commitOf: draft)
                return Commit(account: account, isNew: true, session: session)
            case .limited(let reached): throw .limited(reached)
            case .unknown:
                unknown = plan
                return nil
            case .unconfirmed:
                let now = try await reread(draft, orThrow: CommitError.find)
                // Only a proved address may be reported as taken, so the draft must be at the revision that was
                // validated.
                guard now.account == nil, now.revision == draft.revision else { return nil }
                if let field = try await takenIdentifier(of: draft) { throw .identifierTaken(field) }
                // A client can confirm only its own session. If the draft belongs to another session that needs a
                // confirmation, the draft ends.
                let isOwnSession = client?.replaced.map { $0.id == draft.values.subject?.session } ?? true
                let needed = plan.accountConditions + (isOwnSession ? [] : [plan.confirmation].compactMap(\.self))
                let hasEnded = try await converting(to: CommitError.database) { () throws(DatabaseError) in
                    try await endIfOutdated(draft, unless: needed)
                }
                if hasEnded { throw .find(.ended(.superseded)) }
                if let confirmation = plan.confirmation {
                    let isConfirmed = try await converting(to: CommitError.database) { () throws(DatabaseError) in
                        try await database.read("SELECT \(confirmation)").only.decode(Bool.self)
                    }
                    if !isConfirmed { throw .confirmationRequired }
                }
                return nil
            }
        }
    }

    /// Adds a commit to the statistics (``Funnel``).
    ///
    /// - Parameter draft: the draft before the commit.
    private func count(commitOf draft: Draft) {
        if draft.step != "review" || draft.flow != flow.id { funnel.entered("review", of: flow) }
        funnel.answered("review", of: flow, after: draft.now.timeIntervalSince(draft.updatedAt))
        funnel.completed(flow)
    }

    private func repeated(
        _ id: ID<Account>,
        _ draft: Draft,
        _ client: CommittingClient?
    ) async throws(CommitError) -> Commit {
        let isRecent = draft.now.timeIntervalSince(draft.updatedAt) < CommittingClient.repeatable
        let session: NewSession?
        if let client, isRecent {
            session = try await converting(to: CommitError.database) { () throws(DatabaseError) in
                try await self.session(startedBy: client, of: id)
            }
        } else {
            session = nil
        }
        if let session { return Commit(account: session.session.account, isNew: false, session: session) }
        // A recovery or an address change may show the account only to a client that gets the session of the commit.
        guard flow.purpose == .signup else { throw .finished }
        do throws(FindError) {
            return Commit(account: try await account(id), isNew: false, session: nil)
        } catch {
            throw .find(error)
        }
    }

    private func plan(for draft: Draft, _ client: CommittingClient?) async throws(CommitError) -> CommitPlan {
        var plan = CommitPlan(signups: self, draft: draft, account: draft.values.subject?.account ?? ID<Account>())
        for field in flow.fields { try await field.kind.commit(field, &plan) }
        try await addMove(to: &plan)
        plan.session = client.map { SessionPlan($0, draft.values.subject?.session, keys) }
        return plan
    }

    private enum Written {
        case made(Account, NewSession?)
        case limited(LimitReached)
        /// Nothing took effect, because the draft has changed or ended since it was validated, a condition is false, or
        /// an identifier is taken. Read the draft again.
        case unconfirmed
        /// It is unknown whether the commit took effect. Read the draft again.
        case unknown
    }

    private func write(_ plan: CommitPlan) async throws(CommitError) -> Written {
        let limits = charges(.commits, of: network)
        let isRival: SQL = "email_digest = ANY (\(ByteStrings(plan.provedDigests))) AND account_id IS NULL"
        let lock: SQL = """
            SELECT id FROM drafts WHERE id = \(plan.draft.id) AND account_id IS NULL OR \(isRival)
             ORDER BY id FOR UPDATE
            """
        let endRivals = end(
            in: "drafts",
            where: "\(isRival) AND \(Self.hasProved(plan.provedDigests)) AND EXISTS (SELECT FROM \(plan.owner))",
            as: .superseded,
            erasingAlso: "SELECT \(plan.draft.id) FROM \(plan.owner)"
        )
        do throws(DatabaseError) {
            let beginning = [lock] + plan.beginning
            let rows = try await database.transaction(
                beginning + [consume(limits, when: CommitPlan.isPrepared), plan.undo, plan.closeDraft, endRivals]
                    + Self.deleteBelongings + plan.statements + plan.endings + plan.sessionStatements
            )
            if let exceeded = try exceeded(limits, rows[beginning.count]) { return .limited(exceeded) }
            let isPrepared = try rows[beginning.count - 1].only.decode(String.self) == "true"
            guard isPrepared, let row = rows[1].first else { return .unconfirmed }
            _ = try countEnded(rows[beginning.count + 3], as: .superseded)
            let session = try plan.newSession(rows)
            // In a recovery or an address change, `row` has the account as it was before the change. The session has
            // the account after the change.
            let account = try plan.account(row)
            return .made(session?.session.account ?? account, session)
        } catch {
            if case .outcomeUnknown = error { return .unknown }
            throw .database(error)
        }
    }

    /// Returns the first field with an identifier that an account has or that is reserved for one; nil if there is
    /// none, or if a commit of this flow inserts no identifiers.
    private func takenIdentifier(of draft: Draft) async throws(CommitError) -> FieldName? {
        if flow.purpose == .recovery { return nil }
        for field in flow.fields where field.isIdentifier {
            guard let value = draft.values.json(of: field.name)?.string else { continue }
            let isTaken = try await converting(to: CommitError.database) { () throws(DatabaseError) in
                try await !database.read(
                    """
                    SELECT FROM identifiers WHERE kind = \(type(of: field.kind).name) AND value = \(value)
                       AND NOT EXISTS (SELECT FROM drafts WHERE id = \(draft.id) AND account_id = identifiers.account)
                    """
                ).isEmpty
            }
            if isTaken { return field.name }
        }
        return nil
    }
}

extension CommitPlan {
    /// A subquery of one row with the column `id`; of no row if the commit does not take effect.
    var owner: SQL {
        "(SELECT id FROM accounts WHERE id = \(account) AND \(Self.isPrepared) AND \(Signups.isWithinLimits)) AS account"
    }

    /// The first statements of the commit, after the lock of the drafts. The first one returns the columns of the
    /// account; no row if the commit does not insert or find it. The last one sets the flag of ``isPrepared``.
    fileprivate var beginning: [SQL] {
        switch signups.flow.purpose {
        case .signup: [insertAccount] + insertIdentifiers + [rememberRegistered]
        case .recovery: [lockAccount, rememberPossible]
        case .emailChange: [lockAccount, lockSession, rememberPossible]
        }
    }

    /// Whether the draft is open and unchanged since it was validated, all ``conditions`` are true, and no identifier
    /// of the draft belongs to an account or is reserved for one.
    private var isPossible: SQL {
        (conditions + [areIdentifiersFree]).reduce(signups.exists(draft)) { "\($0) AND \($1)" }
    }

    var areIdentifiersFree: SQL {
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

    private var insertAccount: SQL {
        """
        INSERT INTO accounts (id, email, email_proved_at, username, profile, locale, flow)
        SELECT \(account), \(email?.rawValue), \(emailProvedAt), \(username), \(JSON.object(profile).text)::jsonb,
               \(draft.language.tag), \(signups.flow.id)
         WHERE \(isPossible)
        RETURNING \(Account.columns)
        """
    }

    /// Marks the draft as committed, and deletes its values except the application or page to which the person returns.
    /// The row stays, because the token of a sign-up may be used to read the account until `ends_at`.
    fileprivate var closeDraft: SQL {
        var values = Values()
        (values.authorization, values.returnURL) = (draft.values.authorization, draft.values.returnURL)
        let place = SealedPlace.draft(draft.id, tokenHash: draft.tokenHash, revision: draft.revision + 1)
        let isEmpty = values.authorization == nil && values.returnURL == nil
        let sealed = isEmpty ? [] : signups.keys.seal(values.sealable, for: place)
        return """
            UPDATE \(signups.table(of: draft.id))
               SET account_id = account.id, revision = revision + 1, updated_at = now(), step = 'committed', sealed = \(sealed),
                   email_digest = NULL
              FROM \(owner) WHERE drafts.id = \(draft.id)
            """
    }

    /// Inserts the identifiers that no other account has. The primary key decides races: a statement waits for a
    /// concurrent transaction that has inserted the same identifier. `ON CONFLICT` avoids an error, with which
    /// PostgreSQL would write the value into its log.
    private var insertIdentifiers: [SQL] {
        identifiers.map { kind, value in
            """
            INSERT INTO identifiers (kind, value, account)
            SELECT \(kind), \(value), id FROM accounts WHERE id = \(account)
            ON CONFLICT DO NOTHING
            """
        }
    }

    /// Sets the flag `prepared` to whether the account was inserted with all its identifiers.
    private var rememberRegistered: SQL {
        let isRegistered: SQL = """
            EXISTS (SELECT FROM accounts WHERE id = \(account))
            AND (SELECT count(*) FROM identifiers WHERE account = \(account)) = \(identifiers.count)
            """
        return "SELECT \(Signups.setFlag("prepared", isRegistered))"
    }

    /// Whether the commit takes effect, unless a rate limit is exceeded.
    fileprivate static let isPrepared: SQL = Signups.flag("prepared")

    /// Deletes the account and its identifiers unless the commit is prepared and within the rate limits. The statements
    /// that follow then do nothing.
    ///
    /// The SQL function `undo_account` deletes only an account that this transaction has inserted.
    fileprivate var undo: SQL {
        "SELECT undo_account(\(account)) WHERE NOT (\(Self.isPrepared) AND \(Signups.isWithinLimits))"
    }

    /// - Parameter row: the result of ``insertAccount`` or ``lockAccount``.
    fileprivate func account(_ row: Row) throws(DatabaseError) -> Account {
        try Account(account, row)
    }
}
