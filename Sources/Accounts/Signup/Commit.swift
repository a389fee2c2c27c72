internal import Foundation

package enum CommitError: Error {
    /// Something is missing, or holds no longer.
    case incomplete(Standing)
    /// Another account has the identifier in that field; only now, with the address proved, is it told.
    case identifierTaken(FieldName)
    /// The draft is at another revision than the one asked for.
    case stale(Draft)
    case limited(LimitReached)
    case find(FindError)
    /// The draft kept changing under the commit.
    case contended
    case database(DatabaseError)
}

extension Signups {
    /// Turns the draft into an account: one transaction, one round trip, all of it or nothing.
    ///
    /// Called again for the same draft, by anybody at any time, it gives the same account. What was checked is what is
    /// committed, because the statement names the revision that was checked.
    ///
    /// - Parameter revision: the revision that the client saw, if it insists on it.
    package func commit(
        _ draft: Draft,
        at revision: Int? = nil
    ) async throws(CommitError) -> (account: Account, isNew: Bool) {
        var draft = draft
        for _ in 0..<50 {
            if let id = draft.account { return (try await made(id), false) }
            if let revision, revision != draft.revision { throw .stale(draft) }
            let standing = standing(of: draft)
            guard standing.isReady else { throw .incomplete(standing) }
            let photos: [FieldName: Photo]
            switch try await self.photos(of: draft) {
            case .all(let found): photos = found
            case .lost(let field, in: let step):
                let now = try await renewed(draft)
                if now.revision == draft.revision { throw .incomplete(standing.lacking(field, of: step)) }
                draft = now
                continue
            }
            let id = ID<Account>()
            switch await write(id, of: draft, with: photos) {
            case .success(.made):
                outbox.ring()
                if draft.step != "review" || draft.flow != flow.id { funnel.entered("review", of: flow) }
                funnel.answered("review", of: flow, after: draft.now.timeIntervalSince(draft.updatedAt))
                return (try await made(id), true)
            case .success(.limited(let reached)): throw .limited(reached)
            case .success(.taken): throw .identifierTaken(try await takenIdentifier(of: draft))
            // The last word on who was first. PostgreSQL would write the value to its log, so it is asked before.
            case .failure(let error) where error.violatedUniqueConstraint == "identifiers_pkey":
                throw .identifierTaken(try await takenIdentifier(of: draft))
            // Overtaken, or lost on the way: the draft knows what became of it, and is asked next.
            case .success(.overtaken), .failure(.outcomeUnknown): break
            case .failure(let error): throw .database(error)
            }
            draft = try await renewed(draft)
        }
        throw .contended
    }

    private func renewed(_ draft: Draft) async throws(CommitError) -> Draft {
        do throws(FindError) { return try await reread(draft) } catch { throw .find(error) }
    }

    private func made(_ id: ID<Account>) async throws(CommitError) -> Account {
        do throws(DatabaseError) { return try await account(id) } catch { throw .database(error) }
    }

    private enum Written {
        case made
        /// The draft is not at that revision any more.
        case overtaken
        /// An identifier of the draft belongs to another account.
        case taken
        case limited(LimitReached)
    }

    private enum Photos {
        case all([FieldName: Photo])
        /// It has been replaced since the draft was read, or cannot be read any more.
        case lost(FieldName, in: Step)
    }

    /// Opened before the transaction, at whose revision the draft names the same.
    private func photos(of draft: Draft) async throws(CommitError) -> Photos {
        var photos: [FieldName: Photo] = [:]
        for step in flow.steps {
            for field in step.fields where field.kind is ImageField && draft.values[field.name] != nil {
                do throws(DatabaseError) {
                    guard let photo = try await photo(in: field, of: draft) else { return .lost(field.name, in: step) }
                    photos[field.name] = photo
                } catch {
                    throw .database(error)
                }
            }
        }
        return .all(photos)
    }

    private func write(
        _ account: ID<Account>,
        of draft: Draft,
        with photos: [FieldName: Photo]
    ) async -> Result<Written, DatabaseError> {
        let charges = [charge(.commits, network.prefix)]
        let rivals = rivals(of: draft)
        let lock: SQL = """
            SELECT id FROM drafts
             WHERE (id = \(draft.id) OR email_digest = ANY (\(rivals))) AND account_id IS NULL
             ORDER BY id FOR UPDATE
            """
        do throws(DatabaseError) {
            let statement = statement(account, of: draft, with: photos, ending: rivals, charges)
            let row = try await database.transaction(lock, statement)[1].only
            let (isMade, isTaken, superseded, number, wait) = try row.decode(
                Bool.self,
                Bool.self,
                String.self,
                Int?.self,
                Int?.self
            )
            try funnel.ended(superseded, as: .superseded)
            if let reached = reached(charges, number, wait) { return .success(.limited(reached)) }
            return .success(isMade ? .made : isTaken ? .taken : .overtaken)
        } catch {
            return .failure(error)
        }
    }

    /// The digests of the address that this draft has proved: every other draft for it ends with the commit.
    private func rivals(of draft: Draft) -> ByteStrings {
        guard let proof = identifyingProof, draft.proofs[proof.code]?.isProved == true,
            let address = draft.values[proof.address]?.string
        else { return ByteStrings([]) }
        return ByteStrings(addressDigests(address))
    }

    /// The fields of the address that identifies the account, and of the code that proves it.
    private var identifyingProof: (address: FieldName, code: FieldName)? {
        for field in flow.fields where field.isIdentifier && field.kind is EmailField {
            if let code = flow.code(proving: field.name) { return (field.name, code.field.name) }
        }
        return nil
    }

    private func statement(
        _ account: ID<Account>,
        of draft: Draft,
        with photos: [FieldName: Photo],
        ending rivals: ByteStrings,
        _ charges: [Charge]
    ) -> SQL {
        let identifiers = flow.fields.filter { $0.isIdentifier && draft.values[$0.name] != nil }
        func identifier(_ kind: String) -> String? {
            identifiers.first { type(of: $0.kind).name == kind }.flatMap { draft.values[$0.name]?.string }
        }
        let email = identifier(EmailField.name)
        let mail = email.map { outbox.seal(.init(to: $0, language: draft.language, code: nil)) }

        var parts: SQL = """
            WITH checked AS (\(own(draft))),
            current AS (SELECT * FROM checked WHERE NOT \(isAnyTaken(identifiers, of: draft))), \(refused(charges)),
            own AS (SELECT * FROM current WHERE NOT EXISTS (SELECT FROM refused)), account AS (
                INSERT INTO accounts (id, email, email_proved_at, username, profile, locale, flow)
                SELECT \(account), \(email), own.proved_at, \(identifier(UsernameField.name)),
                       \(profile(of: draft).text)::jsonb, \(draft.language.rawValue), \(flow.id)
                  FROM own
                RETURNING id
            ), done AS (
                UPDATE \(table(of: draft.id)) SET account_id = account.id, revision = revision + 1, updated_at = now(),
                                  step = 'committed', sealed = '', email_digest = NULL
                  FROM account WHERE drafts.id = \(draft.id)
            ), rivals AS (
                DELETE FROM drafts USING account
                 WHERE email_digest = ANY (\(rivals)) AND drafts.id <> \(draft.id) AND account_id IS NULL
                RETURNING drafts.id, drafts.flow, drafts.step, token_hash, ends_at
            ), superseded AS (
                INSERT INTO endings (token_hash, reason, until)
                SELECT token_hash, 'superseded', ends_at + interval '1 day' FROM rivals ON CONFLICT DO NOTHING
            ), ended AS (
                SELECT id FROM rivals UNION ALL SELECT \(draft.id) FROM account
            ), \(belongingsGone)
            """
        for (index, field) in identifiers.enumerated() {
            let part: SQL = """
                INSERT INTO identifiers (kind, value, account)
                SELECT \(type(of: field.kind).name), \(draft.values[field.name]?.string), id FROM account
                """
            parts = "\(parts), \(SQL(stringLiteral: "identifier_\(index)")) AS (\(part))"
        }
        for field in flow.fields where field.kind is PasswordField {
            guard let hash = PasswordField.hash(in: draft.values[field.name])?.rawValue else { continue }
            let part: SQL = """
                INSERT INTO credentials (account, kind, secret) SELECT id, 'password', \(hash) FROM account
                """
            parts = "\(parts), credential AS (\(part))"
        }
        for field in flow.fields where field.kind is TOTPField {
            guard let authenticator = Authenticator(stored: draft.values[field.name]) else { continue }
            let sealed = keys.seal(authenticator.secret, for: account.bytes)
            parts = """
                \(parts), authenticator AS (
                    INSERT INTO authenticators (account, sealed, last_step)
                    SELECT id, \(sealed), \(authenticator.lastStep) FROM account
                ), recovery AS (
                    INSERT INTO recovery_codes (account, digest)
                    SELECT id, digest FROM account, unnest(\(ByteStrings(authenticator.recoveryDigests))) AS digest
                )
                """
        }
        for (index, consent) in consents(of: draft).enumerated() {
            parts = "\(parts), \(SQL(stringLiteral: "consent_\(index)")) AS (\(consent))"
        }
        for (index, (field, photo)) in photos.enumerated() {
            let part: SQL = """
                INSERT INTO photos (account, field, type, image)
                SELECT id, \(field.rawValue), \(Photo.type), \(photo.jpeg) FROM account
                """
            parts = "\(parts), \(SQL(stringLiteral: "photo_\(index)")) AS (\(part))"
        }
        if let mail {
            let part: SQL = """
                INSERT INTO outbox (id, template, sealed, useless_after)
                SELECT \(mail.id), 'account-created', \(mail.sealed), now() + interval '7 days' FROM account
                """
            parts = "\(parts), mail AS (\(part))"
        }
        return """
            \(parts) SELECT EXISTS (SELECT FROM account),
                            EXISTS (SELECT FROM checked) AND NOT EXISTS (SELECT FROM current),
                            \(Funnel.ended(in: "rivals")), \([Charge].columns)
            """
    }

    private func isAnyTaken(_ identifiers: [Field], of draft: Draft) -> SQL {
        identifiers.reduce("false") { taken, field in
            let kind = type(of: field.kind).name
            return """
                (\(taken) OR EXISTS (SELECT FROM identifiers
                                      WHERE kind = \(kind) AND value = \(draft.values[field.name]?.string)))
                """
        }
    }

    /// The draft, if it is still the one that was checked and its address is still proved.
    private func own(_ draft: Draft) -> SQL {
        guard let proof = identifyingProof, let address = draft.values[proof.address]?.string else {
            return "SELECT NULL::timestamptz AS proved_at FROM \(table(of: draft.id)) WHERE \(isCurrent(draft))"
        }
        return """
            SELECT proved_at FROM \(table(of: draft.id)) JOIN proofs ON proofs.draft = drafts.id
             WHERE \(isCurrent(draft)) AND field = \(proof.code.rawValue) AND proved_at IS NOT NULL
               AND address_digest = ANY (\(ByteStrings(addressDigests(address))))
            """
    }

    /// Everything that is neither an identifier nor a secret nor a consent, under the names of its fields.
    private func profile(of draft: Draft) -> JSON {
        .object(
            flow.fields.compactMap { field in
                let isKeptElsewhere =
                    field.isIdentifier || field.kind is PasswordField || field.kind is TOTPField
                    || field.kind is ConsentField || field.kind is ImageField
                guard !isKeptElsewhere, !field.kind.isTransient, let value = draft.values[field.name] else {
                    return nil
                }
                return .init(field.name.rawValue, value)
            }
        )
    }

    private func consents(of draft: Draft) -> [SQL] {
        flow.fields.compactMap { field in
            guard field.kind is ConsentField, let consent = draft.values[field.name],
                case .bool(let isAccepted)? = consent["accepted"]
            else { return nil }
            return """
                INSERT INTO consents (account, field, accepted, version, document, locale, given_at)
                SELECT id, \(field.name.rawValue), \(isAccepted), \(consent["version"]?.string),
                       decode(\(consent["sha256"]?.string), 'hex'), \(consent["locale"]?.string),
                       \(consent["at"]?.string)::timestamptz
                  FROM account
                """
        }
    }

    /// Which of the draft's identifiers belongs to another account.
    private func takenIdentifier(of draft: Draft) async throws(CommitError) -> FieldName {
        for field in flow.fields where field.isIdentifier {
            guard let value = draft.values[field.name]?.string else { continue }
            let kind = type(of: field.kind).name
            do throws(DatabaseError) {
                let rows = try await database.read(
                    "SELECT 1 FROM identifiers WHERE kind = \(kind) AND value = \(value)"
                )
                if !rows.isEmpty { return field.name }
            } catch {
                throw .database(error)
            }
        }
        // Whoever had it is gone by now: the commit would pass.
        throw .contended
    }
}
