internal import Foundation

/// What one act changes: the values as they shall be, and what has to happen in the same transaction.
struct Change {
    var values: Values
    /// The fields that lost what they held because something they depend on changed.
    var cleared: [FieldName] = []
    var effects: [Effect] = []
    /// What is shown once, when the change is made.
    var recoveryCodes: [RecoveryCode] = []

    enum Effect {
        /// A new code for the address, which ends the proof of any other. `generation` is that of the code before it.
        case sendCode(FieldName, CodeField, address: String, after: Int?)
        /// The right code of that generation was given.
        case prove(FieldName, generation: Int)
        /// What was proved is proved no more.
        case withdraw(FieldName)
        /// The name is this draft's until it ends.
        case lease(FieldName, kind: String, name: String)
        case release(kind: String)
        /// The authenticator has shown a right code.
        case enrol(FieldName)
        /// The photo that the field's value names from now on, in place of any other.
        case keepPhoto(FieldName, ID<Photo>, sealed: [UInt8])
        case dropPhoto(FieldName)
    }
}

extension Change {
    /// The field whose name is to be this draft's.
    fileprivate var leased: FieldName? {
        for case .lease(let field, _, _) in effects { return field }
        return nil
    }

    /// Whether the name that is asked for is another's, so that nothing will come of the change, as SQL.
    fileprivate func isVain(_ signups: Signups, _ draft: Draft) -> SQL {
        for case .lease(_, let kind, let name) in effects { return signups.isTaken(name, kind, except: draft.id) }
        return "false"
    }

    /// Whether the lease was had, as SQL beside it; true where none is asked for.
    fileprivate var isLeased: SQL { leased == nil ? "true" : "EXISTS (SELECT FROM lease)" }
}

enum Revision {
    case made(Draft)
    /// Somebody else wrote first, or the draft ended: read it again.
    case overtaken
    /// The name in that field belongs to somebody else.
    case taken(FieldName)
    case limited(LimitReached)
}

extension Signups {
    /// Writes a change to the very revision that it was made for. With effects it is a transaction of its own; without,
    /// it joins the group of the moment.
    func write(_ change: Change, to draft: Draft) async throws(DatabaseError) -> Revision {
        let sealed = keys.seal(change.values.sealable, for: draft.id.bytes)
        do throws(DatabaseError) {
            return change.effects.isEmpty
                ? try await writeGrouped(change, sealed, to: draft) : try await writeAlone(change, sealed, to: draft)
        } catch {
            guard case .outcomeUnknown = error else { throw error }
            // Our own sealed bytes in the row say that the write took effect.
            guard let now = try? await reread(draft), now.sealed == sealed else { throw error }
            return .made(now)
        }
    }

    private func writeGrouped(
        _ change: Change,
        _ sealed: [UInt8],
        to draft: Draft
    ) async throws(DatabaseError) -> Revision {
        let standing = standing(of: draft, by: change)
        let update: SQL = """
            \(update(of: draft, by: change, sealed, to: standing.step)) WHERE \(isCurrent(draft)) RETURNING revision, now(), \(deadline)
            """
        guard let row = try await database.write(update, to: draft.id.rawValue).first else { return .overtaken }
        let (revision, now, expiresAt) = try row.decode(Int.self, Date.self, Date.self)
        return .made(
            Draft(
                id: draft.id,
                flow: flow.id,
                language: draft.language,
                step: standing.step,
                revision: revision,
                values: change.values,
                proofs: draft.proofs,
                expiresAt: expiresAt,
                updatedAt: now,
                now: now,
                account: nil,
                tokenHash: draft.tokenHash,
                sealed: sealed,
                standing: standing
            )
        )
    }

    /// The row is locked first, so that the statement after it sees what nobody can change any more, and so that every
    /// transaction takes its locks in the same order: the draft, then what belongs to it.
    private func writeAlone(
        _ change: Change,
        _ sealed: [UInt8],
        to draft: Draft
    ) async throws(DatabaseError) -> Revision {
        let names = change.effects.flatMap { nameCharges($0, of: draft) }
        let mails = change.effects.flatMap { mailCharges($0, of: draft) }
        let charges = names + mails
        var conditions = isCurrent(draft)
        for effect in change.effects {
            if let condition = condition(of: effect, draft) { conditions = "\(conditions) AND \(condition)" }
        }
        var parts: SQL = """
            WITH current AS (SELECT id, ends_at FROM \(table(of: draft.id)) WHERE \(conditions)),
                 \(refused(names, then: mails, unless: change.isVain(self, draft))),
                 allowed AS (SELECT * FROM current WHERE NOT EXISTS (SELECT FROM refused))
            """
        for case .lease(_, let kind, let name) in change.effects {
            parts = "\(parts), \(lease(of: name, kind: kind, by: draft.id))"
        }
        parts = """
            \(parts), revised AS (
                \(update(of: draft, by: change, sealed, to: standing(of: draft, by: change).step))
                 WHERE \(isCurrent(draft)) AND EXISTS (SELECT FROM allowed) AND \(change.isLeased) RETURNING id
            )
            """
        for (number, effect) in change.effects.enumerated() {
            if let part = after(effect, SQL(stringLiteral: "\(number)"), draft) { parts = "\(parts), \(part)" }
        }
        let row = try await database.transaction(
            "SELECT 1 FROM \(table(of: draft.id)) WHERE id = \(draft.id) FOR UPDATE",
            """
            \(parts) SELECT EXISTS (SELECT FROM current), EXISTS (SELECT FROM revised), \(change.isLeased),
                            \([Charge].columns)
            """
        )[1].only
        let (isCurrent, isRevised, isLeased, number, wait) = try row.decode(
            Bool.self,
            Bool.self,
            Bool.self,
            Int?.self,
            Int?.self
        )
        if let reached = reached(charges, number, wait) { return .limited(reached) }
        if isRevised {
            outbox.ring()
            do throws(FindError) {
                return .made(try await reread(draft))
            } catch {
                if case .database(let error) = error { throw error }
                return .overtaken
            }
        }
        if isCurrent, !isLeased, let field = change.leased { return .taken(field) }
        return .overtaken
    }

    /// Where the draft stands after the change.
    private func standing(of draft: Draft, by change: Change) -> Standing {
        var situation = situation(of: draft)
        situation.values = change.values
        for effect in change.effects {
            switch effect {
            case .prove(let field, _): situation.proofs[field]?.provedAt = draft.now
            case .sendCode(let field, _, _, _), .withdraw(let field): situation.proofs[field] = nil
            case .lease, .release, .enrol, .keepPhoto, .dropPhoto: continue
            }
        }
        return Standing(of: situation)
    }

    private func update(of draft: Draft, by change: Change, _ sealed: [UInt8], to step: String) -> SQL {
        // The digest is written each time, for the flow file or the key may have changed. Where it is the same, the update
        // stays in its page all the same.
        let digest = identifyingAddress(in: change.values).map { addressDigests($0)[0] }
        return """
            UPDATE \(table(of: draft.id))
               SET flow = \(flow.id), revision = revision + 1, updated_at = now(), step = \(step), sealed = \(sealed),
                   email_digest = \(digest)
            """
    }
}

// MARK: - What each effect adds to the statement

extension Signups {
    /// To ask for one's own name again tells nothing.
    private func nameCharges(_ effect: Change.Effect, of draft: Draft) -> [Charge] {
        guard case .lease(let field, _, let name) = effect, draft.values[field]?.string != name else { return [] }
        return [charge(.usernameChecks, draft.id.bytes)]
    }

    private func mailCharges(_ effect: Change.Effect, of draft: Draft) -> [Charge] {
        guard case .sendCode(_, let code, let address, _) = effect else { return [] }
        return mailCharges(to: address, code, of: draft)
    }

    private func condition(of effect: Change.Effect, _ draft: Draft) -> SQL? {
        switch effect {
        case .sendCode(let field, _, _, let generation):
            """
            (SELECT generation FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue))
            IS NOT DISTINCT FROM \(generation)
            """
        case .prove(let field, let generation):
            """
            EXISTS (SELECT FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue)
                                         AND generation = \(generation) AND proved_at IS NULL)
            """
        case .lease, .withdraw, .release, .enrol, .keepPhoto, .dropPhoto: nil
        }
    }

    /// The number tells parts of one kind apart: a step may ask for two addresses.
    private func after(_ effect: Change.Effect, _ number: SQL, _ draft: Draft) -> SQL? {
        switch effect {
        case .lease(_, let kind, let name): release(of: kind, except: name)
        case .release(let kind): release(of: kind, except: nil)
        case .enrol(let field): confirmed(field, part: number)
        case .sendCode(let field, let code, let address, let generation):
            newCode(field, code, address: address, generation: (generation ?? 0) + 1, of: draft, part: number)
        case .prove(let field, _):
            """
            proved_\(number) AS (UPDATE proofs SET proved_at = now(), code_digest = NULL, failures = failures - 1
                         FROM revised WHERE draft = revised.id AND field = \(field.rawValue))
            """
        case .keepPhoto(let field, let id, let sealed):
            """
            kept_\(number) AS (INSERT INTO draft_photos (id, draft, field, sealed)
                                SELECT \(id), id, \(field.rawValue), \(sealed) FROM revised),
            \(withoutPhotos(of: field, part: number))
            """
        case .dropPhoto(let field): withoutPhotos(of: field, part: number)
        case .withdraw(let field):
            """
            withdrawn_\(number) AS (UPDATE proofs SET proved_at = NULL, code_digest = NULL, expires_at = now()
                            FROM revised WHERE draft = revised.id AND field = \(field.rawValue)),
            \(uselessMail(of: field, part: number))
            """
        }
    }

    /// Those that were there before the statement.
    private func withoutPhotos(of field: FieldName, part number: SQL) -> SQL {
        """
        dropped_\(number) AS (DELETE FROM draft_photos USING revised
                             WHERE draft = revised.id AND field = \(field.rawValue))
        """
    }
}

extension Standing {
    /// As the board and the funnel name it.
    fileprivate var step: String { next?.name.rawValue ?? "review" }
}
