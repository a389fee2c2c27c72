internal import Foundation

enum WriteResult {
    case written(Draft)
    /// Another request has changed the draft first, the draft has ended, or the condition of an ``Effect`` is false.
    /// Read the draft again.
    case overtaken
    /// The name belongs to an account or to another draft.
    case taken(LeaseRequest)
    case limited(LimitReached)
}

extension Signups {
    /// Writes a change if the draft is still at the revision for which it was made. A change with effects has its own
    /// transaction. Other changes may share a transaction with other writes that wait at the same time.
    func write(_ change: Change, to draft: Draft) async throws(DatabaseError) -> WriteResult {
        var change = change
        change.values.validFlow = areValid(change.values, of: draft) ? flow.digest : nil
        // Each write increases the revision by one, and the encrypted values are bound to the revision.
        let sealed = keys.seal(
            change.values.sealable,
            for: .draft(draft.id, tokenHash: draft.tokenHash, revision: draft.revision + 1)
        )
        do throws(DatabaseError) {
            return change.effects.isEmpty
                ? try await writeGrouped(change, sealed, to: draft) : try await writeAlone(change, sealed, to: draft)
        } catch {
            guard case .outcomeUnknown = error else { throw error }
            // If the row contains these encrypted bytes, the write took effect.
            let reread = try? await Deadline.verifying { try await self.reread(draft) }
            guard let now = reread, now.sealed == sealed else { throw error }
            return .written(now)
        }
    }

    private func writeGrouped(
        _ change: Change,
        _ sealed: [UInt8],
        to draft: Draft
    ) async throws(DatabaseError) -> WriteResult {
        let progress = progress(of: draft, by: change)
        let update: SQL = """
            \(update(of: draft, by: change, sealed, to: progress.step)) WHERE \(isCurrent(draft)) RETURNING revision, now(), \(deadline)
            """
        guard let row = try await database.write(update, to: draft.id.rawValue).first else { return .overtaken }
        let (revision, now, expiresAt) = try row.decode(Int.self, Date.self, Date.self)
        return .written(
            Draft(
                id: draft.id,
                flow: flow.id,
                language: draft.language,
                step: progress.step,
                revision: revision,
                values: change.values,
                proofs: draft.proofs,
                expiresAt: expiresAt,
                endsAt: draft.endsAt,
                updatedAt: now,
                now: now,
                account: nil,
                tokenHash: draft.tokenHash,
                sealed: sealed,
                progress: progress
            )
        )
    }

    /// Writes a change in a transaction of its own. Locks the row of the draft first, so that no other transaction
    /// changes the draft between the statements, and so that two such transactions on one draft cannot deadlock.
    private func writeAlone(
        _ change: Change,
        _ sealed: [UInt8],
        to draft: Draft
    ) async throws(DatabaseError) -> WriteResult {
        let limits = change.effects.flatMap(\.limits)
        let laterLimits = change.effects.flatMap(\.laterLimits)
        let isUnchanged = change.effects.compactMap(\.condition).reduce(exists(draft)) { "\($0) AND \($1)" as SQL }
        let isNameFree = change.leases.reduce("true") { "\($0) AND NOT \(isTaken($1, from: draft))" as SQL }
        let isAllowed: SQL = "\(Self.flag("unchanged")) AND \(Self.isWithinLimits)"
        let hasNames: SQL = "\(isNameFree) AND \(areLeased(change.leases, to: draft))"
        let update: SQL = """
            \(update(of: draft, by: change, sealed, to: progress(of: draft, by: change).step))
             WHERE drafts.id = \(draft.id) AND \(isAllowed) AND \(hasNames)
            RETURNING revision, now(), \(deadline)
            """
        let locks = [lock(draft)] + change.effects.flatMap(\.locks)
        let check: [SQL] = [
            "SELECT \(Self.setFlag("unchanged", isUnchanged))", consume(limits, when: Self.flag("unchanged")),
        ]
        let leases = change.leases.map { lease($0, to: draft, when: "drafts.id = \(draft.id) AND \(isAllowed)") }
        let beginning = locks + check + leases
        // After the leases, so that these limits, such as those of mails, are not consumed if another draft gets the
        // name at the same moment.
        let consumeLater = consume(laterLimits, when: "\(isAllowed) AND \(hasNames)")
        let releases = laterLimits.isEmpty ? [] : change.leases.map { takeBack($0, from: draft) }
        let writing = [consumeLater] + releases + [update] + change.effects.flatMap(\.statements)
        let rows = try await database.transaction(beginning + writing + [selectProofs(of: draft.id)])
        if let reached = try exceeded(limits, rows[locks.count + 1]) { return .limited(reached) }
        if let reached = try exceeded(laterLimits, rows[beginning.count]) { return .limited(reached) }
        guard let row = rows[beginning.count + 1 + releases.count].first else {
            let isUnchanged = try rows[locks.count].only.decode(String.self) == "true"
            return isUnchanged ? change.leases.first.map(WriteResult.taken) ?? .overtaken : .overtaken
        }
        if change.effects.contains(where: \.sendsMail) { outbox.wakeSender() }
        let (revision, now, expiresAt) = try row.decode(Int.self, Date.self, Date.self)
        var proofs: [StoredProof] = []
        for row in rows[rows.count - 1] { proofs.append(try StoredProof(row)) }
        return .written(
            Draft(
                id: draft.id,
                flow: flow.id,
                language: draft.language,
                step: progress(of: draft, by: change).step,
                revision: revision,
                values: change.values,
                proofs: self.proofs(proofs, of: change.values),
                expiresAt: expiresAt,
                endsAt: draft.endsAt,
                updatedAt: now,
                now: now,
                account: nil,
                tokenHash: draft.tokenHash,
                sealed: sealed
            )
        )
    }

    /// Whether each value of the draft is valid under this flow. The values that the change adds have already been
    /// validated, but the other values may have been stored under another flow file.
    private func areValid(_ values: Values, of draft: Draft) -> Bool {
        let context = validationContext(of: draft, with: values)
        return context.hasValidValues
            || flow.fields.allSatisfy { !values.contains($0.name) || $0.kind.holds($0.name, in: context) }
    }

    private func areLeased(_ leases: [LeaseRequest], to draft: Draft) -> SQL {
        leases.reduce("true") { "\($0) AND \(isLeased($1, to: draft))" as SQL }
    }

    /// The progress of the draft after the change.
    private func progress(of draft: Draft, by change: Change) -> SignupProgress {
        var context = validationContext(of: draft, with: change.values)
        for case let (field, isProved)? in change.effects.map(\.proof) {
            if isProved { context.proofs[field]?.provedAt = draft.now } else { context.proofs[field] = nil }
        }
        return SignupProgress(of: context)
    }

    private func update(of draft: Draft, by change: Change, _ sealed: [UInt8], to step: String) -> SQL {
        // Always writes `email_digest`, because the flow file or the first key may have changed. If its value stays the
        // same, PostgreSQL can still update the row without new index entries (HOT).
        let digest = identifyingAddress(in: change.values).map { addressDigests($0)[0] }
        return """
            UPDATE \(table(of: draft.id))
               SET flow = \(flow.id), revision = revision + 1, updated_at = now(), step = \(flow.purpose.prefix + step), sealed = \(sealed),
                   email_digest = \(digest)
            """
    }
}

extension SignupProgress {
    /// The name of the next step, for the column `step` of the draft and for the statistics of completed steps
    /// (``Funnel``); `review` if there is no next step.
    var step: String { next?.name.rawValue ?? "review" }
}
