internal import Foundation

/// The reason why no draft is found for a token.
package enum FindError: Error {
    /// Nothing is stored about the token, and the time in its id shows that its draft cannot have expired recently.
    /// Also thrown if the draft belongs to a flow of another purpose, or ended for a reason that only a newer version
    /// knows.
    case unknown
    case ended(Termination)
    /// The values of the draft cannot be decrypted or decoded, although this process has keys. Either the values need a
    /// key that only other servers have, or somebody has changed the row.
    case unreadable(ID<Draft>)
    case database(DatabaseError)
}

/// The reason why a draft has ended.
package enum Termination: String, Sendable {
    case expired, cancelled, superseded
    case continuedElsewhere = "continued-elsewhere"
    /// The account of the committed draft was erased. This reason is computed, never stored in `endings`.
    case accountErased = "account-erased"
}

extension Signups {
    /// Returns the draft of the token, open or committed.
    package func find(_ token: Token<Draft>) async throws(FindError) -> Draft {
        try await find(token.id, tokenHash: token.hash)
    }

    /// Returns the current state of the draft.
    func reread(_ draft: Draft) async throws(FindError) -> Draft {
        try await find(draft.id, tokenHash: draft.tokenHash)
    }

    /// Returns the draft. Throws `ended(.accountErased)` for a committed draft whose account was erased.
    func find(_ id: ID<Draft>, tokenHash: [UInt8]) async throws(FindError) -> Draft {
        let draft = try await findEvenIfErased(id, tokenHash: tokenHash)
        if draft.isAccountErased { throw .ended(.accountErased) }
        return draft
    }

    /// Like ``find(_:tokenHash:)``, but also returns a committed draft whose account was erased.
    func findEvenIfErased(_ id: ID<Draft>, tokenHash: [UInt8]) async throws(FindError) -> Draft {
        guard let record = try await record(of: id, tokenHash) else { throw try await ending(of: id, tokenHash) }
        guard flow.purpose.owns(record.flow) else { throw .unknown }
        guard record.isAlive else { throw .ended(.expired) }
        return try draft(id, tokenHash, record)
    }

    /// Reads the draft with its proofs, and tries again if the partition of its day has been dropped.
    private func record(of id: ID<Draft>, _ tokenHash: [UInt8]) async throws(FindError) -> Record? {
        try await converting(to: FindError.database) { () throws(DatabaseError) in
            do throws(DatabaseError) {
                return try Record(await database.read(select(id, tokenHash)))
            } catch .refused(let diagnosis) where diagnosis.isUndefinedTable {
                partitions.forget(theDayOf: id)
                return try Record(await database.read(select(id, tokenHash)))
            }
        }
    }

    /// Selects the row of the draft once for each of its proofs, or once if it has none. ``Record`` decodes the columns
    /// of the proof first.
    private func select(_ id: ID<Draft>, _ tokenHash: [UInt8]) -> SQL {
        """
        SELECT \(StoredProof.columns), drafts.flow, locale, step, revision, sealed, account_id, updated_at, now(),
               deadline, ends_at, now() < deadline AS is_alive,
               account_id IS NOT NULL AND NOT EXISTS (SELECT FROM accounts WHERE accounts.id = account_id) AS is_erased
          FROM \(table(of: id)) LEFT JOIN proofs ON proofs.draft = drafts.id,
               LATERAL (SELECT CASE WHEN account_id IS NULL THEN \(deadline) ELSE ends_at END AS deadline) AS life
         WHERE drafts.id = \(id) AND token_hash = \(tokenHash)
        """
    }

    private func draft(_ id: ID<Draft>, _ tokenHash: [UInt8], _ record: Record) throws(FindError) -> Draft {
        let isCommitted = record.account != nil
        let place = SealedPlace.draft(id, tokenHash: tokenHash, revision: record.revision)
        let opened = record.sealed.isEmpty ? nil : open(record.sealed, at: place)
        let isSealed = opened == nil && !isCommitted && keys.isEmpty
        guard let values = opened ?? (isCommitted || isSealed ? Values() : nil) else { throw .unreadable(id) }
        return Draft(
            id: id,
            flow: record.flow,
            // The flow may no longer have the language of the draft.
            language: flow.languages[record.locale] ?? flow.languages[0],
            step: String(record.step.trimmingPrefix(flow.purpose.prefix)),
            revision: record.revision,
            values: values,
            proofs: proofs(record.proofs, of: isSealed ? nil : values),
            expiresAt: record.expiresAt,
            endsAt: record.endsAt,
            updatedAt: record.updatedAt,
            now: record.now,
            account: record.account,
            tokenHash: tokenHash,
            sealed: record.sealed,
            isAccountErased: record.isErased,
            isSealed: isSealed
        )
    }

    func open(_ sealed: [UInt8], at place: SealedPlace) -> Values? {
        guard let plaintext = try? keys.open(sealed, for: place) else { return nil }
        var values = Values(sealable: plaintext)
        values?.decode(in: flow)
        return values
    }

    /// Returns the error for a token without a draft.
    ///
    /// The task that erases expired drafts (``Reaper``) stores the reason `expired` only for a draft that could live
    /// longer than a new sign-up, for example because an operator extended it. For other expired drafts, the time in
    /// the id shows whether the draft can have expired, and whether that is recent enough to report.
    private func ending(of id: ID<Draft>, _ tokenHash: [UInt8]) async throws(FindError) -> FindError {
        let selectReason: SQL = "SELECT reason FROM endings WHERE token_hash = \(tokenHash) AND now() < until"
        return try await converting(to: FindError.database) { () throws(DatabaseError) in
            guard let row = try await database.read(selectReason).first else {
                let age = Duration.seconds(Date().timeIntervalSince(id.madeAt))
                let isRecent = age < flow.expiry.absolute + .seconds(86_400)
                return flow.expiry.idle <= age && isRecent ? .ended(.expired) : .unknown
            }
            return Termination(rawValue: try row.decode(String.self)).map(FindError.ended) ?? .unknown
        }
    }
}

/// A row of `drafts` with its proofs.
private struct Record {
    let flow, locale, step: String
    let revision: Int
    let sealed: [UInt8]
    let account: ID<Account>?
    let updatedAt, now, expiresAt, endsAt: Date
    let isAlive, isErased: Bool
    let proofs: [StoredProof]

    /// Nil if there are no rows.
    init?(_ rows: Rows) throws(DatabaseError) {
        var proofs: [StoredProof] = []
        var draft: Columns?
        for row in rows {
            var columns = row.columns
            if let proof = try StoredProof(ifPresent: &columns) { proofs.append(proof) }
            // The columns of the draft are the same in each row.
            draft = draft ?? columns
        }
        guard var columns = draft else { return nil }
        self.proofs = proofs
        flow = try columns.next()
        locale = try columns.next()
        step = try columns.next()
        revision = try columns.next()
        sealed = try columns.next()
        account = try columns.next()
        updatedAt = try columns.next()
        now = try columns.next()
        expiresAt = try columns.next()
        endsAt = try columns.next()
        isAlive = try columns.next()
        isErased = try columns.next()
    }
}

extension DatabaseError.Diagnosis {
    fileprivate var isUndefinedTable: Bool { sqlState == "42P01" }
}
